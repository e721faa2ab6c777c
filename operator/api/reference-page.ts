import { replaceBetween } from '../../services/common/kernel/generated-files.ts';
import type { CrdSchema, CustomResourceDefinition } from './custom-resource-definition.ts';

const SECTIONS = ['example', 'spec', 'status'] as const;
type Section = (typeof SECTIONS)[number];

/**
 * Returns a reference page with new generated sections; text outside of their marks is written by hand. Throws when a mark is
 * missing.
 */
export function referencePage(page: string, crd: CustomResourceDefinition, example: string): string {
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema ?? {};
  const texts: Readonly<Record<Section, string>> = {
    example: `\`\`\`yaml\n${example.trim()}\n\`\`\`\n`,
    spec: [namesLine(crd), fieldTable(schema, 'spec'), rulesList(schema)].join('\n'),
    status: [columnsLine(crd), fieldTable(schema, 'status')].join('\n'),
  };
  return SECTIONS.reduce(
    (text, section) =>
      replaceBetween(text, [`<!-- ${section}: generated -->`, `<!-- ${section}: end -->`], texts[section].trimEnd()),
    page,
  );
}

function namesLine({ spec: { group, names, versions } }: CustomResourceDefinition): string {
  const short = names.shortNames.map((name) => `\`${name}\``).join(', ');
  const categories = names.categories.map((name) => `\`${name}\``).join(', ');
  return `\`${group}/${versions[0]?.name ?? ''}\`, \`${names.plural}\`, short name ${short}, category ${categories}.\n`;
}

function columnsLine({ spec }: CustomResourceDefinition): string {
  const columns = spec.versions[0]?.additionalPrinterColumns ?? [];
  const named = (wide: boolean) =>
    columns
      .filter(({ priority = 0 }) => priority > 0 === wide)
      .map(({ name }) => `\`${name}\``)
      .join(', ');
  return `Columns of \`kubectl get\`: ${named(false)}; with \`-o wide\` also ${named(true)}.\n`;
}

function fieldTable(schema: CrdSchema, part: string): string {
  const root = schema.properties?.[part] ?? {};
  const rows = fields(root, '').map(
    ([path, field, isRequired]) =>
      `| \`${path}\` | ${typeText(field)} | ${isRequired ? 'required' : defaultText(field)} | ${cell(field.description ?? '')} |`,
  );
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

type Field = readonly [path: string, schema: CrdSchema, isRequired: boolean];

function fields(schema: CrdSchema, prefix: string): Field[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    if (path === 'conditions') return [[path, field, false] as const];
    const inner = field.items ?? field;
    const below = fields(inner, `${path}${field.items === undefined ? '' : '[]'}.`);
    return [[path, field, required.includes(name)] as const, ...below];
  });
}

function typeText(field: CrdSchema): string {
  const { type = '', format, enum: values, items, additionalProperties } = field;
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (items !== undefined)
    return `list of ${items.enum === undefined ? plural(items.type) : typeText(items)}${bounds(field)}`;
  if (additionalProperties !== undefined) return `map of ${plural(additionalProperties.type)}${bounds(field)}`;
  return `${format === 'date-time' ? 'time' : type}${bounds(field)}`;
}

function plural(type = ''): string {
  return type.endsWith('s') ? type : `${type}s`;
}

function bounds(field: CrdSchema): string {
  const { minimum, maximum, minLength, maxLength, maxItems, maxProperties } = field;
  if (minimum !== undefined || maximum !== undefined) return `, ${minimum ?? ''} to ${maximum ?? ''}`;
  if (minLength !== undefined && minLength === maxLength) return `, ${maxLength} characters`;
  if (maxLength !== undefined) return `, at most ${maxLength} characters`;
  if (maxItems !== undefined) return `, at most ${maxItems}`;
  if (maxProperties !== undefined) return `, at most ${maxProperties}`;
  return '';
}

function defaultText({ default: value }: CrdSchema): string {
  if (value === undefined) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** Validation rules with the messages of the API server. */
function rulesList(schema: CrdSchema): string {
  const rules = ruleMessages(schema, '');
  return [
    'Refused by the API server, besides types and bounds:',
    '',
    ...rules.map((rule) => `- ${cell(rule)}`),
    '',
  ].join('\n');
}

function ruleMessages(schema: CrdSchema, path: string): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message }) =>
    path === '' ? message : `\`${path}\`: ${message}`,
  );
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    ruleMessages(field, path === '' ? name : `${path}.${name}`),
  );
  return [...own, ...below, ...(schema.items === undefined ? [] : ruleMessages(schema.items, `${path}[]`))];
}

/** Row of a Markdown table. */
function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
