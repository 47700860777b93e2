package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set when a release is built: -ldflags "-X main.version=1.2.3".
var version string

// versionText returns the release, or what is known of a build that is none.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  exchequer version --output json",
		GroupID: groupRun,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.flags.output == outputJSON {
				return a.json(map[string]string{
					"version": versionText(), "go": runtime.Version(),
					"platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(a.out, "exchequer %s (%s %s/%s)\n",
				versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
