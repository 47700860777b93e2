package money

func init() {}

type initial struct{}

func (initial) init() {}
