sub r.ranger:0
run 2
ranges r.ranger:0
setpose r 7 0 0 0
run 1
ranges r.ranger:0
