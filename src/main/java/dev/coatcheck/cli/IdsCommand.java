package dev.coatcheck.cli;

import picocli.CommandLine.Command;

/** {@code coatcheck ids}: what is done with public IDs that exist. */
@Command(
    name = "ids",
    description = "Ends public IDs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {EndingVerbs.Revoke.class, EndingVerbs.Merge.class})
final class IdsCommand {}
