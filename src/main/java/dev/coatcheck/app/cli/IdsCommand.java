package dev.coatcheck.app.cli;

import picocli.CommandLine.Command;

/** {@code coatcheck ids}: what is done with public IDs that exist. */
@Command(
    name = "ids",
    description = "Imports, exports and ends public IDs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      ImportVerb.class,
      ExportVerb.class,
      EndingVerbs.Revoke.class,
      EndingVerbs.Merge.class
    })
final class IdsCommand {}
