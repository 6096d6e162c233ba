reset
set encoding utf8
set decimalsign '.'
set terminal svg size 640,400 fixed font 'Helvetica,Arial,sans-serif,14' noenhanced butt background '#ffffff'
set output './cdf.svg'
set datafile commentschars '#'
set border 3 lw 1
set tics nomirror out
set grid ytics lc rgb '#d0d0d0' lw 0.7 dt solid
set style data lines
set ylabel 'fraction of jobs' noenhanced
unset logscale x
unset logscale y
set xrange [0:*]
set yrange [0:1]
unset label
set xtics autofreq
set xlabel 'job completion time (s)' noenhanced
set ytics autofreq
set key inside bottom right vertical Left reverse noenhanced opaque
plot './cdf.dat' index 0 using 1:2 with lines lw 2 lc rgb '#0072B2' dt solid title 'tiresias' noenhanced
unset output
