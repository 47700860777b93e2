package locations

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that the directory can report. Its order is the order of precedence:
// what is wrong with a request in itself, then what it asks for and is not there, then what others
// have done in the meantime, then the rules that it breaks.
var Problems = problem.NewCatalogue("locations")

// Requests that can never succeed as they are.
var (
	ErrInvalid     = Problems.Share(problem.ErrRequestInvalid, "")
	ErrInvalidCode = Problems.Define(problem.Invalid, "location_code_invalid",
		"{code} cannot be a code: {reason}",
		"Use letters, digits, dashes, dots and underscores, such as akl-01")
	ErrSheet = Problems.Share(problem.ErrFileUnreadable,
		"Give a CSV file with a head line and a column named code")
	ErrRow         = Problems.Share(problem.ErrRowInvalid, "")
	ErrRowRepeated = Problems.Define(problem.Invalid, "row_repeated",
		"The code {code} is in lines {lines}",
		"Keep one of the rows")
	ErrInvalidCursor = Problems.Share(problem.ErrCursorInvalid, "")
	ErrOrderMissing  = Problems.Define(problem.Refused, "location_order_missing",
		"The table has no index by {order}",
		"Add it: exchequer tables create with the setting location-indexes, then exchequer locations "+
			"repair --reindex; or take the list as it comes")
	ErrAreaTooLarge = Problems.Define(problem.Refused, "location_area_too_large",
		"The area needs {queries} queries of the index, the limit is {limit}",
		"Ask for a smaller radius or box")
	ErrTooMany = Problems.Share(problem.ErrLimitReached, "Read the list page by page")
)

// What is asked for and not there.
var (
	ErrNotFound     = Problems.Share(problem.ErrLocationNotFound, "")
	ErrCodeNotFound = Problems.Define(problem.NotFound, "location_code_not_found",
		"No location has the code {code}",
		"List the locations to find the code")
	ErrDeleted = Problems.Define(problem.NotFound, "location_deleted",
		"The code {code} belongs to location {location}, which was deleted",
		"Restore the location, or read it by its id")
)

// What others have done.
var (
	ErrChanged = Problems.Share(problem.ErrVersionChanged, "")
	ErrExists  = Problems.Define(problem.Conflict, "location_exists",
		"There is a location {location} already, with another {field}",
		"Choose another id")
	ErrCodeYours = Problems.Define(problem.Conflict, "location_already_created",
		"The code {code} is yours already: location {location} is what the request asks for",
		"Nothing is left to do; use that location")
	ErrCodeTaken = Problems.Define(problem.Conflict, "location_code_taken",
		"The code {code} is taken by location {location}, {name}",
		"Choose another code, or change that location's first")
	ErrCodeReserved = Problems.Define(problem.Conflict, "location_code_reserved",
		"The code {code} is reserved by location {location}, {name}, which was deleted",
		"Restore that location, release its code, or ask to reuse it")
)

// Rules that a request breaks.
var (
	ErrInactive = Problems.Define(problem.Refused, "location_not_active",
		"Location {location} was deleted",
		"Restore it first")
	ErrActive = Problems.Define(problem.Refused, "location_not_deleted",
		"Location {location} is in use",
		"Delete it first, or change its code")
	ErrNoCode = Problems.Define(problem.Refused, "location_code_missing",
		"Location {location} has no code",
		"Give it one")
)

// What is no fault of the request.
var (
	ErrUnsettled = Problems.Define(problem.Unavailable, "location_code_inconsistent",
		"The code {code} points at location {location}, which does not have it",
		"Try again; if it stays so, run exchequer locations repair")
	ErrContended = Problems.Share(problem.ErrContended, "")
)
