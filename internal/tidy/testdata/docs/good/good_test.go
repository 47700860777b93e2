package good

func Exported() {}
