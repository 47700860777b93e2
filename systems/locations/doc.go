// Package locations keeps a directory of places with a code that people know them by, in one table
// of DynamoDB or of the embedded engine.
//
// # Words
//
// A location is a place: a name, an address, coordinates, opening hours. Its code is what people
// type; it is unique, regardless of its case. A lookup item is the item whose key is made of a code
// and that names the location which has it: two locations with one code would need two items with
// one key. A location that was deleted is inactive, and its code is reserved. To release a code is
// to give it up.
//
// # Promises
//
// No two locations have one code, no location with a code is without its lookup item, and no lookup
// item is without its location, after any operations of any number of callers at once, on a store
// that refuses writes or loses answers. Each write that touches a code writes both items in one
// transaction.
//
// A code that cannot be had is refused with the reason: the location that has it, or
// the deleted one that reserves it. A conflict with another writer is never taken for that; it is
// tried again.
//
// Codes are text. Blanks around them go, full-width characters become plain ones and every dash
// becomes "-"; case and leading zeros stay as they were typed. One that is too long is refused, not
// cut.
//
// A change made with a tag is made only if the location still has that tag, also when the
// program of the seed, which knows no version, has changed it. A location that such a program wrote
// is read, changed and deleted like any other, and attributes that this package does not know stay.
//
// Pages lose and repeat nothing, and are filled up when a filter drops rows, within twenty calls.
// What is near is found by true distance over the surface, across the antimeridian and the poles,
// and agrees with a look at every location.
//
// The kept list never misses a write of this process that has returned. Writes of others show when
// its time is over.
//
// # Access patterns
//
//	question                             index  partition                    sort
//	location by id                       table  LOCATION#<id>                META
//	who has a code                       table  LOCATION_CODE#<code>         META
//	all locations                        a scan of the table, with a filter on itemType
//
// And if the table has been given the index:
//
//	by creation                          GSI1   Location (itemType)          <createdAt>
//	by code, from a prefix on            GSI2   LIST#LOCATION                CODE#<code>#<id>
//	by name, from a prefix on            GSI3   LIST#LOCATION                NAME#<name>#<id>
//	in a cell of the earth's surface     GSI4   CELL#<area>                  <cell>#<id>
//
// Keys have codes and names in lower case. With shards, the key of a location is
// LOCATION#<shard>#<id> and a list is spread over LIST#LOCATION#<n>, whose parts are read side by
// side and merged. GSI1 is made of the seed's own attributes, so that items which are there already
// are in it; lookup items are as well, in a partition of their own. GSI2, GSI3 and GSI4 hold
// nothing but locations.
//
// Attributes that the seed of this design does not have: formerCode, placeIdCheckedAt, address,
// phone, timeZone, hours, tags and version; geoArea and geoCell with the index by cells. The key
// attributes of GSI2, GSI3 and GSI4 are there with those indexes alone.
//
// # Life of a location
//
//	            Create            Delete
//	(nothing) ─────────▶ active ◀─────────▶ inactive, the code reserved
//	                        ▲   Restore          │ Release
//	                        └───────────── inactive, without a code
//	                            Restore
//
// Delete is the seed's single update of status and updatedAt (and of version), and leaves the
// lookup item alone. Nothing is ever removed from the table but lookup items.
//
// # Data of Google's Places
//
// A place id may be kept permanently, and should be looked up again after twelve months; so the
// date of the last look is kept with it. Other things that Places answers may not be kept, or not
// for long, depending on its terms: formattedAddress and addressComponents are there for the seed's
// sake, apart from the address that the owner of the directory gives.
//
// # Limits
//
// A code has at most 64 characters. The kept list has at most 20,000 locations; a directory with
// more is read in pages, and searched by the index of cells, which answers for areas of up to 128
// cells. A call imports at most 500 rows, a file has at most 500,000.
package locations
