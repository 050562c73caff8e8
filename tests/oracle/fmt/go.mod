module fmtoracle

go 1.26
