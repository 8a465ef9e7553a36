sub r.ranger:0
setpose r -1.8609 0.601 0 -0.9597
run 1
ranges r.ranger:0
setpose r 0.07 -1.3365 0 1.9804
run 1
ranges r.ranger:0
setpose r -0.1592 -1.1652 0 -0.9606
run 1
ranges r.ranger:0
setpose r 2.4382 1.0714 0 0.2242
run 1
ranges r.ranger:0
setpose r 2.0566 0.6942 0 -1.167
run 1
ranges r.ranger:0
setpose r 2.0906 0.4919 0 -0.24
run 1
ranges r.ranger:0
setpose r -0.304 -0.1665 0 0.4918
run 1
ranges r.ranger:0
setpose r 1.1087 -1.2675 0 2.2926
run 1
ranges r.ranger:0
