module parseoracle

go 1.26
