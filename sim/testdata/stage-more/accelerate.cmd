sub d
sub o
sub c
accel d 0.4 0.2 0.3
run 1
pose d
run 9
pose d
accel d 3 0 -3
run 10
pose d
accel d -5 0 0
run 12
pose d
speed d 0.1 0 0
run 1
pose d
accel o 9 -9 1
run 1
pose o
run 20
pose o
speed c 0.5 0 0.2
run 5
accel c 1 0 0
run 5
pose c
