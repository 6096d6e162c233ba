reset
set encoding utf8
set decimalsign '.'
set terminal svg size 640,440 fixed font 'Helvetica,Arial,sans-serif,14' noenhanced butt background '#ffffff'
set output './bars2.svg'
set datafile commentschars '#'
set border 3 lw 1
set tics nomirror out
set grid ytics lc rgb '#d0d0d0' lw 0.7 dt solid
set style data lines
set ylabel '' noenhanced
unset logscale x
unset logscale y
set xrange [-0.625:3.625]
set yrange [0:*]
unset label
unset xlabel
set xtics ('' 0, '' 1, '' 2, '' 3)
set rmargin 3
set bmargin at screen 0.1318
set label 1 'fifo' noenhanced at first 0, graph 0 center offset 0,-1.3
set label 2 'fifo' noenhanced at first 1, graph 0 center offset 0,-1.3
set label 3 'srtf' noenhanced at first 2, graph 0 center offset 0,-1.3
set label 4 'las_2' noenhanced at first 3, graph 0 center offset 0,-1.3
set label 5 'policy' noenhanced at graph 0.5, screen 0.0318 center
set ytics autofreq
set key outside top center horizontal Left reverse noenhanced
plot './bars2.dat' index 0 using ($1+(-0.2)):2:(0.4) with boxes fs solid 0.85 border lt -1 lw 1 lc rgb '#0072B2' title 'jct_h' noenhanced, \
     './bars2.dat' index 1 using ($1+(0.2)):2:(0.4) with boxes fs pattern 4 border lt -1 lw 1 lc rgb '#D55E00' title 'makespan_h' noenhanced
unset output
