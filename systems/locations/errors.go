package locations

import "github.com/exchequer-dev/exchequer/problem"

// Problems lists everything that the directory can report. Its order is the order of precedence:
// what is wrong with a request in itself, then what it asks for and is not there, then what others
// have done in the meantime, then the rules that it breaks.
var Problems = problem.NewCatalogue("locations")

// Requests that can never succeed as they are.
var (
	ErrInvalid = Problems.Define(problem.Invalid, "location_invalid",
		"The request is not complete or not well formed",
		"Correct the fields named and send it again")
	ErrInvalidCode = Problems.Define(problem.Invalid, "location_code_invalid",
		"{code} cannot be a code: {reason}",
		"Use letters, digits, dashes, dots and underscores, such as akl-01")
	ErrSheet = Problems.Define(problem.Invalid, "location_sheet_invalid",
		"The file is not a sheet of locations: {reason}",
		"Give a CSV file with a head line and a column named code")
	ErrRow = Problems.Define(problem.Invalid, "location_row_invalid",
		"The row cannot be read: {reason}",
		"Correct the row and import the file again")
	ErrRowRepeated = Problems.Define(problem.Invalid, "location_row_repeated",
		"The code {code} is in lines {lines}",
		"Keep one of the rows")
	ErrInvalidCursor = Problems.Define(problem.Invalid, "location_cursor_invalid",
		"The cursor is not one of this list's",
		"Start from the first page, with the same question on every page")
	ErrOrderMissing = Problems.Define(problem.Refused, "location_order_missing",
		"The table has no index by {order}",
		"Add it: exchequer tables create with the setting location-indexes, then exchequer locations "+
			"repair --reindex; or take the list as it comes")
	ErrAreaTooLarge = Problems.Define(problem.Refused, "location_area_too_large",
		"The area needs {queries} queries of the index, the limit is {limit}",
		"Ask for a smaller radius or box")
	ErrTooMany = Problems.Define(problem.Refused, "location_directory_too_large",
		"There are more than {limit} locations, too many for one list",
		"Read the list page by page")
)

// What is asked for and not there.
var (
	ErrNotFound = Problems.Define(problem.NotFound, "location_not_found",
		"There is no location {location}",
		"List the locations, deleted ones too, to find its id")
	ErrCodeNotFound = Problems.Define(problem.NotFound, "location_code_not_found",
		"No location has the code {code}",
		"List the locations to find the code")
	ErrDeleted = Problems.Define(problem.NotFound, "location_deleted",
		"The code {code} belongs to location {location}, which was deleted",
		"Restore the location, or read it by its id")
)

// What others have done.
var (
	ErrChanged = Problems.Define(problem.Changed, "location_changed",
		"Location {location} is no longer what the request speaks of",
		"Read it again and decide anew")
	ErrExists = Problems.Define(problem.Conflict, "location_exists",
		"There is a location {location} already, with another {field}",
		"Choose another id")
	ErrCodeYours = Problems.Define(problem.Conflict, "location_code_yours",
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
	ErrInactive = Problems.Define(problem.Refused, "location_inactive",
		"Location {location} was deleted",
		"Restore it first")
	ErrActive = Problems.Define(problem.Refused, "location_active",
		"Location {location} is in use",
		"Delete it first, or change its code")
	ErrNoCode = Problems.Define(problem.Refused, "location_without_code",
		"Location {location} has no code",
		"Give it one")
)

// What is no fault of the request.
var (
	ErrUnsettled = Problems.Define(problem.Unavailable, "location_code_unsettled",
		"The code {code} points at location {location}, which does not have it",
		"Try again; if it stays so, run exchequer locations repair")
	ErrContended = Problems.Define(problem.Unavailable, "locations_contended",
		"Too many writers want {items} at once",
		"Send the same request again")
)
