// Package when reads times as people and programs write them: instants in the form of RFC 3339, and
// days and local times whose zone is known from elsewhere. It is the one parser of times of the
// API, the client, the files and the command line.
//
// # Instants
//
// [Instant] reads exactly what the grammar of RFC 3339, section 5.6, allows, and nothing else. The
// parser of the standard library also reads hours with one digit, a comma before the fraction and
// offsets of 24 hours and more, so that a mistyped time becomes the time of a different day.
//
//   - The letters T and Z may be in lower case, as the RFC allows. A space in place of the T is
//     refused.
//   - The offset is Z, or hours 00 to 23 and minutes 00 to 59. The offset -00:00 is that of UTC.
//   - The fraction begins with a point and has one digit or more. Digits after the ninth are
//     ignored, because a time holds nanoseconds.
//   - The second 60 is accepted only where a leap second can be, which is at 23:59:60 UTC of
//     30 June and of 31 December, and it is read as the first instant of the next day.
//   - In UTC the year is 0000 to 9999, so that the time can be written again in the same form.
//
// # Days and local times
//
// [Parse] reads an instant, a day such as 2027-10-01, or a local time without an offset such as
// 2027-10-01T09:00. A day is its first instant. [Time.In] gives the instant in a zone:
//
//   - a local time that does not exist, because the clocks are put forward over it, is the first
//     instant after the change;
//   - a local time that exists twice, because the clocks are put back over it, is the first one.
//
// So a later local time is never an earlier instant.
package when
