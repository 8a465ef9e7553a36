sub r
sub r.g
run 1
grip r.g
speed r 0.4 0 0
run 16
grip r.g
pose r
run 12
grip r.g
pose p
speed r 0.3 0 0.4
run 20
pose p
grip r.g
sub s
sub s.g
run 1
grip s.g
grip s.g open
run 25
grip s.g
speed s 0.3 0 0
run 8
grip s.g close
run 1
speed s 0.2 0 0.5
run 30
grip s.g
pose q
grip s.g open
run 2
pose q
run 25
grip s.g
sub t
sub t.g
grip t.g close
run 25
grip t.g
