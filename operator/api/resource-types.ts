import { compile, type JSONSchema } from 'json-schema-to-typescript';
import type { CrdSchema, CustomResourceDefinition } from './custom-resource-definition.ts';

/** Returns the TypeScript types of a kind: `<Kind>Spec`, `<Kind>Status` and one for each object in them, read-only. */
export async function resourceTypes(crd: CustomResourceDefinition, source: string): Promise<string> {
  const { kind } = crd.spec.names;
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema;
  const parts = ['spec', 'status'].map(async (part) => {
    const typed = typeSchema(schema?.properties?.[part] ?? {}, `${kind}${pascal(part)}`);
    return compile(typed, `${kind}${pascal(part)}`, {
      bannerComment: '',
      ignoreMinAndMaxItems: true,
      additionalProperties: false,
      style: { singleQuote: true, printWidth: 120 },
    });
  });
  const [spec = '', status = ''] = await Promise.all(parts);
  return [
    `// Made from ${source} by \`npm run generate\`. Do not edit.`,
    "import type { Condition } from '../kube-runtime/conditions.ts';",
    "import type { CustomObject, ResourceKind } from '../kube-runtime/kube-object.ts';",
    '',
    kindText(crd),
    readOnly(spec),
    // Undefined removes a field of the status; the frame writes these three.
    readOnly(status).replace(
      /(?<!conditions|observedGeneration|lastHandledReconcileAt)\?: ([^;]+);$/gm,
      '?: $1 | undefined;',
    ),
  ].join('\n');
}

function kindText({ spec: { group, names, versions } }: CustomResourceDefinition): string {
  const { kind, plural } = names;
  const apiVersion = `${group}/${versions[0]?.name ?? ''}`;
  return `export type ${kind} = CustomObject<${kind}Spec, Partial<${kind}Status>>;

export const ${kind.toUpperCase()}_KIND = {
  apiVersion: '${apiVersion}',
  kind: '${kind}',
  plural: '${plural}',
  namespaced: true,
} as const satisfies ResourceKind;
`;
}

/** Names each object by its path, so that it becomes a type of its own; entries of a list by the name without its plural. */
function typeSchema(schema: CrdSchema, title: string, entry = title.replace(/s$/, '')): JSONSchema {
  const { type, description, enum: values, required, properties, items, additionalProperties } = schema;
  if (title.endsWith('StatusConditions')) {
    return { tsType: 'readonly Condition[]', ...(description === undefined ? {} : { description }) };
  }
  return {
    ...(type === undefined ? {} : { type: type as 'object' }),
    ...(description === undefined ? {} : { description }),
    ...(values === undefined ? {} : { enum: [...values] }),
    ...(properties === undefined
      ? {}
      : {
          title,
          required: defaultedNames(schema, required ?? []),
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => {
              const named = `${shortened(title)}${pascal(name)}`;
              // Beside `sources` there may be a `source`.
              const isTaken = name.endsWith('s') && Object.hasOwn(properties, name.slice(0, -1));
              return [name, isTaken ? typeSchema(property, named, `${named}Entry`) : typeSchema(property, named)];
            }),
          ),
        }),
    ...(items === undefined ? {} : { items: typeSchema(items, entry) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: typeSchema(additionalProperties, `${title}Value`) }),
  };
}

/** A field with a default is present in every object of the API server. */
function defaultedNames({ properties = {} }: CrdSchema, required: readonly string[]): string[] {
  const defaulted = Object.keys(properties).filter((name) => properties[name]?.default !== undefined);
  return [...new Set([...required, ...defaulted])];
}

/** Shortens `TenantSpecRouting` to `TenantRouting`. */
function shortened(title: string): string {
  return title.replace(/^([A-Z][a-z]+)Spec/, '$1');
}

function pascal(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

function readOnly(text: string): string {
  return text
    .replace(/^( +)(\w+\??): /gm, '$1readonly $2: ')
    .replace(/^( +)\[k: string\]: /gm, '$1readonly [k: string]: ')
    .replace(/: (\w+)\[\];$/gm, ': readonly $1[];')
    .replace(/: (\([^()]*\))\[\];$/gm, ': readonly $1[];')
    .replace(/^}\n(?=\/\*\*|export)/gm, '}\n\n');
}
