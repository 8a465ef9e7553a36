sub r0
sub r0.ranger:0
sub r1
sub r1.ranger:0
sub r2
sub r2.ranger:0
sub r3
sub r3.ranger:0
sub r4
sub r4.ranger:0
sub r5
sub r5.ranger:0
sub r6
sub r6.ranger:0
sub r7
sub r7.ranger:0
sub r8
sub r8.ranger:0
sub r9
sub r9.ranger:0
sub r10
sub r10.ranger:0
sub r11
sub r11.ranger:0
sub r12
sub r12.ranger:0
sub r13
sub r13.ranger:0
sub r14
sub r14.ranger:0
sub r15
sub r15.ranger:0
sub r16
sub r16.ranger:0
sub r17
sub r17.ranger:0
sub r18
sub r18.ranger:0
sub r19
sub r19.ranger:0
sub r20
sub r20.ranger:0
sub r21
sub r21.ranger:0
sub r22
sub r22.ranger:0
sub r23
sub r23.ranger:0
sub r24
sub r24.ranger:0
speed r0 0.18 0 0.73
speed r1 0.39 0 0.52
speed r2 0.07 0 0.24
speed r3 0.44 0 -0.74
speed r4 0.97 0 -0.99
speed r5 0.77 0 0.92
speed r6 0.17 0 -0.67
speed r7 0.31 0 -0.60
speed r8 0.88 0 0.25
speed r9 0.18 0 0.94
speed r10 0.20 0 0.93
speed r11 0.38 0 -0.96
speed r12 0.41 0 0.87
speed r13 0.26 0 -0.34
speed r14 0.82 0 0.17
speed r15 0.60 0 0.42
speed r16 0.07 0 -0.29
speed r17 0.31 0 0.39
speed r18 0.18 0 -0.05
speed r19 0.18 0 -0.49
speed r20 0.94 0 0.90
speed r21 0.36 0 -0.19
speed r22 0.55 0 -0.16
speed r23 0.38 0 0.68
speed r24 0.45 0 0.42
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r0.ranger:0
ranges r3.ranger:0
ranges r6.ranger:0
ranges r9.ranger:0
ranges r12.ranger:0
ranges r15.ranger:0
ranges r18.ranger:0
ranges r21.ranger:0
ranges r24.ranger:0
speed r0 0.62 0 0.91
speed r1 0.12 0 -0.51
speed r2 0.82 0 -0.08
speed r3 0.51 0 0.79
speed r4 0.25 0 -0.07
speed r5 0.59 0 0.56
speed r6 0.37 0 -0.41
speed r7 0.43 0 0.96
speed r8 0.21 0 0.03
speed r9 0.36 0 -0.70
speed r10 0.28 0 0.41
speed r11 0.09 0 0.37
speed r12 0.31 0 0.60
speed r13 0.63 0 0.44
speed r14 0.31 0 -0.03
speed r15 0.72 0 -0.84
speed r16 0.60 0 0.85
speed r17 0.03 0 0.48
speed r18 0.34 0 -0.50
speed r19 0.65 0 -0.71
speed r20 0.98 0 0.28
speed r21 0.80 0 -0.33
speed r22 0.21 0 0.96
speed r23 0.56 0 -0.73
speed r24 0.90 0 -0.17
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r1.ranger:0
ranges r4.ranger:0
ranges r7.ranger:0
ranges r10.ranger:0
ranges r13.ranger:0
ranges r16.ranger:0
ranges r19.ranger:0
ranges r22.ranger:0
speed r0 0.17 0 -0.25
speed r1 0.06 0 -0.16
speed r2 0.14 0 0.84
speed r3 0.62 0 -0.66
speed r4 0.52 0 0.92
speed r5 0.69 0 -0.36
speed r6 0.27 0 -0.06
speed r7 0.90 0 -0.77
speed r8 0.82 0 0.06
speed r9 0.18 0 0.87
speed r10 0.87 0 -0.64
speed r11 0.49 0 0.03
speed r12 0.55 0 0.01
speed r13 0.06 0 0.59
speed r14 0.36 0 0.17
speed r15 0.03 0 -0.39
speed r16 0.56 0 0.34
speed r17 0.84 0 -0.47
speed r18 0.98 0 0.43
speed r19 0.96 0 -0.32
speed r20 0.18 0 0.70
speed r21 0.47 0 0.55
speed r22 0.33 0 -0.45
speed r23 0.29 0 0.00
speed r24 0.67 0 -0.29
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r2.ranger:0
ranges r5.ranger:0
ranges r8.ranger:0
ranges r11.ranger:0
ranges r14.ranger:0
ranges r17.ranger:0
ranges r20.ranger:0
ranges r23.ranger:0
speed r0 0.27 0 -0.31
speed r1 0.94 0 -0.18
speed r2 0.92 0 -0.66
speed r3 0.87 0 -0.10
speed r4 0.36 0 -0.33
speed r5 0.14 0 0.96
speed r6 0.20 0 -0.28
speed r7 0.85 0 -0.43
speed r8 0.08 0 0.34
speed r9 0.42 0 0.23
speed r10 0.94 0 0.03
speed r11 0.94 0 -0.39
speed r12 0.55 0 0.73
speed r13 0.27 0 0.99
speed r14 0.20 0 0.17
speed r15 0.62 0 -0.64
speed r16 0.76 0 -0.64
speed r17 0.72 0 0.97
speed r18 0.98 0 -0.67
speed r19 0.89 0 -0.78
speed r20 0.97 0 -0.03
speed r21 0.55 0 -0.17
speed r22 0.35 0 0.33
speed r23 0.07 0 -0.59
speed r24 0.72 0 -0.25
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r0.ranger:0
ranges r3.ranger:0
ranges r6.ranger:0
ranges r9.ranger:0
ranges r12.ranger:0
ranges r15.ranger:0
ranges r18.ranger:0
ranges r21.ranger:0
ranges r24.ranger:0
speed r0 0.35 0 0.90
speed r1 0.86 0 0.73
speed r2 0.69 0 0.09
speed r3 0.96 0 0.10
speed r4 0.30 0 -0.41
speed r5 0.51 0 0.90
speed r6 0.29 0 -0.30
speed r7 0.13 0 -0.18
speed r8 0.56 0 0.08
speed r9 0.47 0 -0.69
speed r10 0.38 0 -0.05
speed r11 0.20 0 -0.73
speed r12 0.09 0 0.64
speed r13 0.66 0 -0.24
speed r14 0.33 0 0.83
speed r15 0.54 0 -0.35
speed r16 0.88 0 0.13
speed r17 0.43 0 0.95
speed r18 0.49 0 -0.04
speed r19 0.71 0 -0.23
speed r20 0.85 0 -0.68
speed r21 0.59 0 0.48
speed r22 0.30 0 -0.50
speed r23 0.02 0 0.89
speed r24 0.31 0 0.86
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r1.ranger:0
ranges r4.ranger:0
ranges r7.ranger:0
ranges r10.ranger:0
ranges r13.ranger:0
ranges r16.ranger:0
ranges r19.ranger:0
ranges r22.ranger:0
speed r0 0.14 0 -0.95
speed r1 0.66 0 0.92
speed r2 0.25 0 -0.92
speed r3 0.14 0 -0.22
speed r4 0.48 0 0.12
speed r5 0.24 0 -0.05
speed r6 0.04 0 -0.02
speed r7 0.84 0 0.44
speed r8 0.29 0 -0.02
speed r9 0.99 0 0.04
speed r10 0.86 0 0.76
speed r11 0.90 0 -0.97
speed r12 0.13 0 -0.44
speed r13 0.71 0 0.23
speed r14 0.73 0 -0.95
speed r15 0.35 0 0.36
speed r16 0.81 0 -0.74
speed r17 0.00 0 0.11
speed r18 0.69 0 -0.78
speed r19 0.69 0 -0.62
speed r20 0.43 0 0.62
speed r21 0.59 0 0.38
speed r22 0.95 0 0.30
speed r23 0.86 0 0.68
speed r24 0.48 0 0.36
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r2.ranger:0
ranges r5.ranger:0
ranges r8.ranger:0
ranges r11.ranger:0
ranges r14.ranger:0
ranges r17.ranger:0
ranges r20.ranger:0
ranges r23.ranger:0
speed r0 0.72 0 0.80
speed r1 0.47 0 0.52
speed r2 0.30 0 -0.99
speed r3 0.78 0 0.16
speed r4 0.65 0 -0.06
speed r5 0.31 0 -0.67
speed r6 0.70 0 0.78
speed r7 0.97 0 0.08
speed r8 0.43 0 0.08
speed r9 0.05 0 0.47
speed r10 0.27 0 -0.83
speed r11 0.06 0 0.88
speed r12 0.33 0 -0.14
speed r13 0.07 0 -0.19
speed r14 0.49 0 -0.75
speed r15 0.12 0 0.23
speed r16 0.82 0 -0.78
speed r17 0.89 0 0.99
speed r18 0.71 0 -0.12
speed r19 0.18 0 -0.63
speed r20 0.80 0 -0.87
speed r21 0.21 0 0.11
speed r22 0.66 0 0.49
speed r23 0.28 0 0.14
speed r24 0.12 0 -0.20
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r0.ranger:0
ranges r3.ranger:0
ranges r6.ranger:0
ranges r9.ranger:0
ranges r12.ranger:0
ranges r15.ranger:0
ranges r18.ranger:0
ranges r21.ranger:0
ranges r24.ranger:0
speed r0 0.62 0 -0.98
speed r1 0.09 0 0.37
speed r2 0.49 0 -0.29
speed r3 0.66 0 0.83
speed r4 0.14 0 -0.41
speed r5 0.57 0 0.36
speed r6 0.29 0 0.88
speed r7 0.55 0 -0.56
speed r8 0.06 0 -0.53
speed r9 0.83 0 -0.43
speed r10 0.98 0 0.62
speed r11 0.86 0 -0.09
speed r12 0.39 0 -0.74
speed r13 0.02 0 -0.32
speed r14 0.57 0 -0.93
speed r15 0.86 0 0.01
speed r16 0.45 0 -0.22
speed r17 0.46 0 0.93
speed r18 0.11 0 0.06
speed r19 0.54 0 -0.23
speed r20 0.85 0 0.89
speed r21 0.43 0 0.59
speed r22 0.75 0 -0.83
speed r23 0.91 0 -0.02
speed r24 0.21 0 0.40
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r1.ranger:0
ranges r4.ranger:0
ranges r7.ranger:0
ranges r10.ranger:0
ranges r13.ranger:0
ranges r16.ranger:0
ranges r19.ranger:0
ranges r22.ranger:0
speed r0 0.38 0 0.67
speed r1 0.29 0 0.86
speed r2 0.71 0 0.59
speed r3 0.38 0 0.45
speed r4 0.36 0 -0.41
speed r5 0.63 0 0.92
speed r6 0.36 0 -0.93
speed r7 0.99 0 -0.57
speed r8 0.18 0 -0.87
speed r9 0.04 0 -0.63
speed r10 0.20 0 -0.02
speed r11 0.94 0 0.32
speed r12 0.35 0 -0.15
speed r13 0.30 0 0.87
speed r14 0.92 0 -0.35
speed r15 0.46 0 -0.62
speed r16 0.65 0 -0.86
speed r17 0.87 0 0.74
speed r18 0.47 0 0.10
speed r19 0.11 0 0.64
speed r20 0.75 0 0.34
speed r21 0.03 0 0.79
speed r22 0.34 0 0.50
speed r23 0.32 0 -0.88
speed r24 0.02 0 -0.09
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r2.ranger:0
ranges r5.ranger:0
ranges r8.ranger:0
ranges r11.ranger:0
ranges r14.ranger:0
ranges r17.ranger:0
ranges r20.ranger:0
ranges r23.ranger:0
speed r0 0.85 0 -0.69
speed r1 0.79 0 -0.35
speed r2 0.45 0 -0.52
speed r3 0.99 0 -0.93
speed r4 0.71 0 0.15
speed r5 0.66 0 0.24
speed r6 0.91 0 0.41
speed r7 0.68 0 -0.63
speed r8 0.36 0 -0.87
speed r9 0.99 0 -0.06
speed r10 0.78 0 -0.65
speed r11 0.21 0 -0.91
speed r12 0.61 0 0.45
speed r13 0.27 0 -0.08
speed r14 0.45 0 0.36
speed r15 0.17 0 -0.93
speed r16 0.84 0 0.67
speed r17 0.57 0 0.88
speed r18 0.72 0 -0.53
speed r19 0.80 0 -0.82
speed r20 0.47 0 0.37
speed r21 0.64 0 -0.01
speed r22 0.78 0 -0.90
speed r23 0.83 0 -0.11
speed r24 0.64 0 0.75
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r0.ranger:0
ranges r3.ranger:0
ranges r6.ranger:0
ranges r9.ranger:0
ranges r12.ranger:0
ranges r15.ranger:0
ranges r18.ranger:0
ranges r21.ranger:0
ranges r24.ranger:0
speed r0 0.95 0 -0.61
speed r1 0.70 0 0.28
speed r2 0.19 0 -0.53
speed r3 0.93 0 0.58
speed r4 0.09 0 0.97
speed r5 0.16 0 -0.85
speed r6 0.73 0 0.25
speed r7 0.44 0 -0.28
speed r8 0.42 0 0.54
speed r9 0.52 0 -0.73
speed r10 0.01 0 0.51
speed r11 0.69 0 0.78
speed r12 1.00 0 0.11
speed r13 0.14 0 -0.03
speed r14 0.78 0 -0.47
speed r15 0.40 0 -0.73
speed r16 0.54 0 -0.06
speed r17 0.70 0 0.60
speed r18 0.97 0 0.33
speed r19 0.28 0 -0.01
speed r20 0.25 0 0.41
speed r21 0.80 0 0.77
speed r22 0.89 0 -0.86
speed r23 0.77 0 -0.24
speed r24 0.77 0 -1.00
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r1.ranger:0
ranges r4.ranger:0
ranges r7.ranger:0
ranges r10.ranger:0
ranges r13.ranger:0
ranges r16.ranger:0
ranges r19.ranger:0
ranges r22.ranger:0
speed r0 0.29 0 0.88
speed r1 0.13 0 -0.94
speed r2 0.14 0 0.38
speed r3 0.78 0 -0.96
speed r4 0.05 0 -0.14
speed r5 0.11 0 0.61
speed r6 0.56 0 -0.36
speed r7 0.31 0 -0.73
speed r8 0.50 0 -0.35
speed r9 0.03 0 0.08
speed r10 0.74 0 -0.94
speed r11 0.12 0 0.94
speed r12 0.83 0 -0.13
speed r13 0.26 0 0.90
speed r14 0.02 0 0.05
speed r15 0.13 0 -0.60
speed r16 0.36 0 -0.67
speed r17 0.62 0 -0.67
speed r18 0.98 0 -0.46
speed r19 0.61 0 0.26
speed r20 0.14 0 0.53
speed r21 0.43 0 -0.14
speed r22 0.33 0 -0.11
speed r23 0.23 0 0.19
speed r24 0.17 0 -0.90
run 4
pose r0
pose r1
pose r2
pose r3
pose r4
pose r5
pose r6
pose r7
pose r8
pose r9
pose r10
pose r11
pose r12
pose r13
pose r14
pose r15
pose r16
pose r17
pose r18
pose r19
pose r20
pose r21
pose r22
pose r23
pose r24
ranges r2.ranger:0
ranges r5.ranger:0
ranges r8.ranger:0
ranges r11.ranger:0
ranges r14.ranger:0
ranges r17.ranger:0
ranges r20.ranger:0
ranges r23.ranger:0
