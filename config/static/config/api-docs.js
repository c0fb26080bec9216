// The interactive API pages, drawn from the served OpenAPI schema.
const place = document.getElementById("api-docs");
window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
});
