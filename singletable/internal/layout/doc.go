// Package layout describes the memory of entities and the texts of their keys. It reads and writes
// the fields of structs by address, and is below the kit: it does not know tables, patterns or
// stores.
//
// # Words
//
// A [Shape] is the description of a struct type: its [Field]s, each with the attribute that stores
// it, its offset, and the functions that read, write, encode and decode it. A [Scalar] is the value
// of a field in a key. A [Template] is the text of a key with fields in it, such as
// "USER#<id>#<date:month>", and a [Piece] is one part of it. A [KeyAttr] binds a template to an
// attribute, and a [Placement] is the key of an entity in its table or in an index.
//
// # Why the package uses unsafe
//
// An entity is generic over its struct, but its description is built once, when the program starts.
// To read a field of a value with package reflect, each access creates a reflect.Value and checks
// the type again, and values that escape are allocated. A write of an entity with eight key
// attributes reads about twenty fields, so this was the largest part of the cost of a write in
// memory. A Shape therefore keeps the offset of each field, and a function for its type that reads
// the memory at that offset.
//
// # What keeps it right
//
//   - Offsets and types come from package reflect, which computed them for the same type. No offset
//     is written by hand, and no header of the runtime is imitated.
//   - A pointer to a struct is created in one place for each type: in the generic functions of the
//     kit, from a *T, or by reflect.New of the type of the Shape. A Shape is never used with the
//     pointer to a different type, because an entity keeps the two together.
//   - A pointer to a field is made by [Field.At] with unsafe.Add, within the struct, and is used
//     before the function that made it returns. It is an unsafe.Pointer all the time and never a
//     uintptr, so the garbage collector sees it and the struct stays alive.
//   - The function for a field is chosen by its type when the Shape is built, and reads memory as
//     that type or as the type that it is based on, which has the same memory. A type without a
//     function is a problem of the model, which is reported when the program starts.
//   - A pointer in a field is checked for nil before it is followed. Slices, maps and structs in
//     fields are read as their own type, or with reflect.NewAt.
//   - The tests of the kit compare what is stored and read with the same values in plain Go. They
//     also run with the race detector, which checks the use of unsafe pointers.
//
// The kit itself uses unsafe.Pointer only to pass a *T to a Shape and to return it as a *T.
package layout
