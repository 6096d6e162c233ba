reset
set encoding utf8
set decimalsign '.'
set terminal svg size 720,520 fixed font 'Helvetica,Arial,sans-serif,14' noenhanced butt background '#ffffff'
set output './timeline.svg'
set datafile commentschars '#'
set border 3 lw 1
set tics nomirror out
set grid ytics lc rgb '#d0d0d0' lw 0.7 dt solid
set style data lines
set lmargin 10
set rmargin 3
set multiplot layout 2,1
set ylabel 'GPUs' noenhanced
unset logscale x
unset logscale y
set xrange [0:470]
set yrange [0:*]
unset label
set xtics autofreq
set xlabel '' noenhanced
set ytics 1
set key outside top center horizontal Left reverse noenhanced
plot './timeline.dat' index 0 using 1:2 with filledcurves y1=0 fs solid 0.3 noborder lc rgb '#0072B2' title 'held' noenhanced, \
     './timeline.dat' index 1 using 1:2 with lines lw 2 lc rgb '#000000' dt solid title 'in the cluster' noenhanced
set ylabel 'jobs' noenhanced
unset logscale x
unset logscale y
set xrange [0:470]
set yrange [0:*]
unset label
set xtics autofreq
set xlabel 'time since the trace origin (s)' noenhanced
set ytics 1
set key outside top center horizontal Left reverse noenhanced
plot './timeline.dat' index 2 using 1:2 with lines lw 2 lc rgb '#000000' dt solid title 'in the system' noenhanced, \
     './timeline.dat' index 3 using 1:2 with lines lw 2 lc rgb '#0072B2' dt solid title 'running' noenhanced, \
     './timeline.dat' index 4 using 1:2 with lines lw 2 lc rgb '#D55E00' dt (10,4) title 'waiting' noenhanced
unset multiplot
unset output
