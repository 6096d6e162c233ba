reset
set encoding utf8
set decimalsign '.'
set terminal svg size 640,400 fixed font 'Helvetica,Arial,sans-serif,14' noenhanced butt background '#ffffff'
set output './lines.svg'
set datafile commentschars '#'
set border 3 lw 1
set tics nomirror out
set grid ytics lc rgb '#d0d0d0' lw 0.7 dt solid
set style data lines
set ylabel '' noenhanced
unset logscale x
unset logscale y
set xrange [*:*]
set yrange [0:*]
unset label
set xtics autofreq
set xlabel 'load' noenhanced
set ytics autofreq
set key outside top center horizontal Left reverse noenhanced
plot './lines.dat' index 0 using 1:2 with linespoints pt 7 lw 2 lc rgb '#0072B2' dt solid title 'jct_h' noenhanced, \
     './lines.dat' index 1 using 1:2 with linespoints pt 5 lw 2 lc rgb '#D55E00' dt (10,4) title 'makespan_h' noenhanced
unset output
