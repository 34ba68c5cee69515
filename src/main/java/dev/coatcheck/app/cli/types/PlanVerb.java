package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.ExitCode;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Output;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code coatcheck types plan}. */
@Command(
    name = "plan",
    description = {
      "Prints how the types of the gateway differ from a file and which changes it would refuse"
          + " now, and changes nothing.",
      "Exits with 3 if they do. Types that are not in the file are named, and are no difference."
    },
    footer = "  coatcheck types plan -f types.yaml")
public final class PlanVerb implements Callable<Integer> {
  @Mixin private GatewayCalls gateway = new GatewayCalls();
  @Mixin private Output output = new Output();
  @Mixin private FileOption file = new FileOption();

  @Override
  public Integer call() throws CommandFailed {
    TypesPlan plan = TypesPlan.of(TypesFile.read(file.path(), System::getenv), gateway);
    plan.print(output, TypesPlan.Refusals.of(plan, gateway));
    return (plan.changes().isEmpty() ? ExitCode.DONE : ExitCode.DRIFT).status();
  }
}
