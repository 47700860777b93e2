package pensions

import _ "strings"
