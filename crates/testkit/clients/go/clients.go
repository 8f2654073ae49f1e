// Package clients names the clients in Go whose own tests are run.
package clients

import _ "github.com/go-sql-driver/mysql"
