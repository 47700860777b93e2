// Package wide has a type with one method more than its line in the table allows.
package wide

// T is the type.
type T[V any] struct{ v V }

func (t *T[V]) m0() {}

func (t *T[V]) m1() {}

func (t *T[V]) m2() {}

func (t *T[V]) m3() {}

func (t *T[V]) m4() {}

func (t *T[V]) m5() {}

func (t *T[V]) m6() {}

func (t *T[V]) m7() {}

func (t *T[V]) m8() {}

func (t *T[V]) m9() {}

func (t *T[V]) m10() {}

func (t *T[V]) m11() {}

func (t *T[V]) m12() {}

func (t *T[V]) m13() {}

func (t *T[V]) m14() {}

func (t *T[V]) m15() {}

func (t *T[V]) m16() {}

func (t *T[V]) m17() {}

func (t *T[V]) m18() {}

func (t *T[V]) m19() {}

func (t *T[V]) m20() {}

func (t *T[V]) m21() {}

func (t *T[V]) m22() {}

func (t *T[V]) m23() {}

func (t *T[V]) m24() {}

func (t *T[V]) m25() {}

func (t *T[V]) m26() {}

func (t *T[V]) m27() {}

func (t *T[V]) m28() {}

func (t *T[V]) m29() {}

func (t *T[V]) m30() {}

func (t *T[V]) m31() {}

func (t *T[V]) m32() {}

func (t *T[V]) m33() {}

func (t *T[V]) m34() {}

func (t *T[V]) m35() {}

func (t *T[V]) m36() {}

func (t *T[V]) m37() {}

func (t *T[V]) m38() {}

func (t *T[V]) m39() {}

func (t *T[V]) m40() {}

func (t *T[V]) m41() {}
