sub r0
sub r0.ranger:0
sub r1
sub r1.ranger:0
sub r2
sub r2.ranger:0
sub r3
sub r3.ranger:0
speed r0 0 0 0
speed r1 0.192 0 -0.118
speed r2 0.608 0 -0.411
speed r3 0.109 0.045 -0.757
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 4
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.542 0 0.147
speed r1 0.485 0 0.251
speed r2 0.129 0 -0.613
speed r3 0.322 0.049 0.357
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.496 0 -0.669
speed r1 0 0 0
speed r2 0.498 0 -0.961
speed r3 0.447 0.085 0.936
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.71 0 -0.649
speed r1 0.673 0 -0.902
speed r2 0 0 0
speed r3 0.144 -0.024 0.478
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 4
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.533 0 0.325
speed r1 0.194 0 -0.621
speed r2 0.297 0 -0.364
speed r3 0 0 0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.116 0 0.156
speed r1 0 0 0
speed r2 0.574 0 0.804
speed r3 0.436 0.054 0.713
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0 0 0
speed r1 0.003 0 1.026
speed r2 0 0 0
speed r3 0 0 0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 4
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0 0 0
speed r1 0.311 0 0.966
speed r2 0.738 0 0.245
speed r3 0 0 0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.381 0 -0.89
speed r1 0 0 0
speed r2 0.099 0 -0.633
speed r3 0.23 -0.027 -0.567
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0 0 0
speed r1 0.296 0 -0.431
speed r2 0.794 0 -1.064
speed r3 0.161 -0.208 0.114
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 4
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 -0.089 0 0.983
speed r1 0.335 0 0.049
speed r2 0.55 0 0.387
speed r3 0 0 0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.382 0 -0.371
speed r1 0.44 0 -0.943
speed r2 0.243 0 0.723
speed r3 -0.056 -0.243 -0.017
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.323 0 -0.637
speed r1 0.278 0 -0.71
speed r2 0.799 0 -0.378
speed r3 -0.04 0.297 -1.183
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 4
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
speed r0 0.056 0 0.236
speed r1 0.308 0 -0.557
speed r2 0 0 0
speed r3 -0.006 -0.28 0.323
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
run 1
ranges r0.ranger:0
ranges r1.ranger:0
ranges r2.ranger:0
ranges r3.ranger:0
pose r0
pose r1
pose r2
pose r3
