// The reference in docs/server.md: routes with their fields, and the coded errors, out of the OpenAPI document and the error table.
import { errorStatus } from '../../protocol/index.js';

type Named = Readonly<Record<string, unknown>>;

/** The section, without its heading. @param document the OpenAPI document of a server */
export function renderReference(document: unknown): string {
  const paths = memberOf(document, 'paths');
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isRecord(methods) ? methods : {}).map(([method, operation]) => ({
      path,
      method,
      operation: isRecord(operation) ? operation : {},
    })),
  );
  const table = routes.map(
    ({ path, method, operation }) => `| \`${method.toUpperCase()} ${path}\` | ${textOf(operation, 'summary')} |`,
  );
  const bodies = routes.filter(({ operation }) => isRecord(operation.requestBody)).map(renderBody);
  return [
    '### Routes\n',
    '| Route | |',
    '|---|---|',
    ...table,
    '',
    ...bodies,
    '### Coded errors\n',
    'The `reason` of an error, and the status it is answered with.\n',
    '| Reason | Status |',
    '|---|---|',
    ...Object.entries(errorStatus).map(([reason, status]) => `| \`${reason}\` | ${status} |`),
  ].join('\n');
}

interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: Named;
}

function renderBody({ path, method, operation }: Route): string {
  const content = memberOf(operation.requestBody, 'content');
  const [first] = Object.values(content);
  const schema = memberOf(first, 'schema');
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const rows = Object.entries(memberOf(schema, 'properties')).flatMap(([name, property]) => [
    row(name, property, required.includes(name)),
    ...(name === 'extra_params'
      ? Object.entries(memberOf(property, 'properties')).map(([inner, value]) =>
          row(`extra_params.${inner}`, value, false),
        )
      : []),
  ]);
  const types = Object.keys(content).join(', ');
  return [
    `### \`${method.toUpperCase()} ${path}\`\n`,
    `Body: ${types}.\n`,
    '| Field | Type | |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function row(name: string, schema: unknown, isRequired: boolean): string {
  return `| \`${name}\`${isRequired ? ' (required)' : ''} | ${typeOf(schema)} | ${textOf(isRecord(schema) ? schema : {}, 'description').replaceAll('|', '\\|')} |`;
}

function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return '';
  if (Array.isArray(schema.enum)) return 'word';
  if (Array.isArray(schema.anyOf))
    return [...new Set(schema.anyOf.map(typeOf).filter((type) => type !== ''))].join(' or ');
  const type = typeof schema.type === 'string' ? schema.type : 'const' in schema ? JSON.stringify(schema.const) : '';
  const least = schema.minimum ?? schema.exclusiveMinimum;
  const range =
    least === undefined && schema.maximum === undefined
      ? ''
      : ` ${schema.exclusiveMinimum === undefined ? (least ?? '') : `above ${least}`}…${schema.maximum ?? ''}`;
  return `${type}${range}`;
}

function memberOf(value: unknown, name: string): Named {
  const member = isRecord(value) ? value[name] : undefined;
  return isRecord(member) ? member : {};
}

function textOf(value: Named, name: string): string {
  const text = value[name];
  return typeof text === 'string' ? text : '';
}

function isRecord(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
