// Package worldfile reads Stage world files, versions 2 to 4: it turns their
// text, with includes, macros, bitmaps and units, into a World of models whose
// names, poses (m, rad) and bodies are those that Stage gives them.
//
// It opens files only through the function that it is given and holds no
// state. Faults come as Problems with file, line and column; a file with an
// Error in it gives no World.
package worldfile
