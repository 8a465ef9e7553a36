sub omni
sub left
sub right
sub turn
goto omni 3 2 0
goto left -2 7 0
goto right -2 -7 0
goto turn 10 0 -2.5
run 1
pose omni
pose left
pose right
pose turn
run 9
pose omni
pose left
pose right
pose turn
run 60
pose omni
pose left
pose right
pose turn
run 60
pose omni
pose left
pose right
pose turn
