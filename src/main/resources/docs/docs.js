"use strict";

// Draws the contract. Everything comes from this gateway: no validator, no fonts, no other origin.
SwaggerUIBundle({
  url: "/openapi.yaml",
  dom_id: "#api",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 2,
  displayRequestDuration: true,
  // An API key is forgotten with the page.
  persistAuthorization: false,
});
