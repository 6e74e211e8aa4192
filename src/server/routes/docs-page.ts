// The documentation page: the OpenAPI document as plain HTML, without scripts.

/** A page for an OpenAPI document. */
export function docsPage(document: object, rootPath: string): string {
  const info = recordOf(document, 'info');
  const paths = recordOf(document, 'paths');
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isRecord(methods) ? methods : {}).map(([method, operation]) =>
      section(rootPath + path, method, operation),
    ),
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(textOf(info, 'title'))}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, h2 { font-family: ui-monospace, monospace; } h2 { font-size: 1rem; margin: 2rem 0 .25rem; }
table { border-collapse: collapse; width: 100%; } td { border-top: 1px solid #8884; padding: .25rem .5rem; vertical-align: top; }
td:first-child { white-space: nowrap; width: 16rem; } .method { text-transform: uppercase; font-weight: 700; }
</style></head><body>
<h1>${escapeHtml(textOf(info, 'title'))}</h1>
<p>${escapeHtml(textOf(info, 'description'))} <a href="${escapeHtml(rootPath)}/openapi.json">OpenAPI document</a></p>
${sections.join('\n')}
</body></html>`;
}

function section(path: string, method: string, operation: unknown): string {
  const words = isRecord(operation) ? operation : {};
  const parameters = Array.isArray(words.parameters) ? words.parameters.filter(isRecord) : [];
  const rows = [
    ...parameters.map((parameter) =>
      row(textOf(parameter, 'name'), schemaWords(parameter.schema, textOf(parameter, 'description'))),
    ),
    ...bodyRows(words.requestBody),
  ];
  const table = rows.length === 0 ? '' : `<table>${rows.join('')}</table>`;
  return `<h2><span class="method">${escapeHtml(method)}</span> ${escapeHtml(path)}</h2><p>${escapeHtml(textOf(words, 'summary'))}</p>${table}`;
}

function bodyRows(body: unknown): readonly string[] {
  const content = isRecord(body) && isRecord(body.content) ? Object.values(body.content) : [];
  const [first] = content;
  const schema = isRecord(first) ? first.schema : undefined;
  const properties = isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
  const required = isRecord(schema) && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) =>
    row(required.includes(name) ? `${name} *` : name, schemaWords(property, '')),
  );
}

function row(name: string, words: string): string {
  return `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(words)}</td></tr>`;
}

function schemaWords(schema: unknown, description: string): string {
  if (!isRecord(schema)) return description;
  const type = typeof schema.type === 'string' ? schema.type : '';
  const allowed = Array.isArray(schema.enum) ? schema.enum.join(', ') : '';
  return [type, allowed, textOf(schema, 'description') || description].filter((part) => part !== '').join(' · ');
}

function recordOf(value: object, name: string): Readonly<Record<string, unknown>> {
  const member = isRecord(value) ? value[name] : undefined;
  return isRecord(member) ? member : {};
}

function textOf(value: Readonly<Record<string, unknown>>, name: string): string {
  const text = value[name];
  return typeof text === 'string' ? text : '';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
