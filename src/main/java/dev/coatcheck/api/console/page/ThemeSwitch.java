package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.core.name.WireNamed;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;

/** The form at the end of each page that makes pages light or dark. */
public final class ThemeSwitch {
  private static final String THEME = "theme";

  private final Gate gate;

  public ThemeSwitch(Gate gate) {
    this.gate = gate;
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.POST, "/console/theme", gate.openForm(ThemeSwitch::choose));
  }

  private static Answer choose(Context ctx) {
    Form form = Form.read(ctx);
    Theme theme =
        form.text(THEME)
            .flatMap(name -> WireNamed.find(Theme.class, name))
            .orElseThrow(() -> Refusal.ofParameter(THEME, "A theme is auto, light or dark."));
    return Html.seeOther(Paths.next(form.text(Paths.NEXT))).with("Set-Cookie", theme.cookie());
  }
}
