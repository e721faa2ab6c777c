import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { isBuilt } from '../services/app/registry.ts';
import { SERVICE_NAMES } from '../services/common/domain/service-paths.ts';
import { generatedFiles } from './generate.ts';
import { replaceValues, valuesOf } from './values-reference.ts';

const CHART = fileURLToPath(new URL('./engram', import.meta.url));
const read = (file: string) => readFileSync(`${CHART}/${file}`, 'utf8');

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly definitions?: Readonly<Record<string, Schema>>;
}
const schema = JSON.parse(read('values.schema.json')) as Schema;
const resolve = (one: Schema): Schema =>
  one.$ref === undefined ? one : (schema.definitions?.[one.$ref.replace('#/definitions/', '')] ?? {});

/** Paths of all properties, without those of parts that are the same everywhere. */
function pathsOf(one: Schema, path: readonly string[] = []): readonly string[] {
  const { properties } = resolve(one);
  if (properties === undefined) return [path.join('.')];
  return Object.entries(properties).flatMap(([name, property]) => pathsOf(property, [...path, name]));
}

describe('generated files of the chart', () => {
  it('are up to date', () => {
    for (const [file, text] of generatedFiles()) expect(read(file), `${file}: npm run generate`).to.equal(text);
  });

  it('have a route and a Deployment for every service', () => {
    const paths = JSON.parse(read('files/service-paths.json')) as object;
    expect(Object.keys(paths)).to.have.members(SERVICE_NAMES.filter(isBuilt));
  });
});

describe('skaffold.yaml', () => {
  interface Skaffold {
    readonly build: { readonly artifacts: readonly { readonly image: string }[] };
    readonly deploy: { readonly helm: { readonly releases: readonly Release[] } };
    readonly profiles: readonly {
      readonly name: string;
      readonly patches: readonly { readonly path: string; readonly value: unknown }[];
    }[];
  }
  interface Release {
    readonly chartPath: string;
    readonly valuesFiles: readonly string[];
    readonly setValueTemplates: Readonly<Record<string, string>>;
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  const skaffold = parse(readFileSync(`${root}/skaffold.yaml`, 'utf8')) as Skaffold;

  it('names existing files, and the image of the chart', () => {
    const [release] = skaffold.deploy.helm.releases;
    const replaced = skaffold.profiles
      .flatMap(({ patches }) => patches)
      .filter(({ path }) => path.endsWith('/valuesFiles'))
      .flatMap(({ value }) => value as readonly string[]);
    const own = [...(release?.valuesFiles ?? []), ...replaced].filter((file) => file !== 'values.external.yaml');
    for (const file of own) expect(existsSync(`${root}/${file}`), file).to.equal(true);
    const image = (parse(read('values.yaml')) as { readonly image: { readonly repository: string } }).image.repository;
    expect(skaffold.build.artifacts.map((artifact) => artifact.image)).to.deep.equal([image]);
    const variable = image.replaceAll(/[^a-zA-Z0-9]/g, '_');
    expect(release?.setValueTemplates).to.deep.equal({
      'image.repository': `{{.IMAGE_REPO_${variable}}}`,
      'image.tag': `{{.IMAGE_TAG_${variable}}}`,
    });
  });
});

describe('values of the chart', () => {
  const told = valuesOf(read('values.yaml')).map(({ path }) => path);
  const isTold = (path: string) => told.some((one) => path === one || path.startsWith(`${one}.`));

  it('are all in the README, with their meaning', () => {
    expect(told.length).to.be.greaterThan(150);
    for (const path of told) expect(read('README.md')).to.include(`| \`${path}\` |`);
  });

  it('match the schema', () => {
    const common = Object.keys(schema.definitions?.['component']?.properties ?? {});
    const isCommon = (path: string) => {
      const [top = '', second = '', third = ''] = path.split('.');
      return common.includes(top === 'services' ? third : ['embedded', 'operator'].includes(top) ? second : '');
    };
    const missing = pathsOf(schema).filter((path) => path !== 'global' && !isTold(path) && !isCommon(path));
    // The source of a CA file is a value of its own.
    expect(missing.filter((path) => !/\.ca\./.test(path))).to.deep.equal([]);
  });

  it('allow no additional properties', () => {
    const open = (one: Schema, path: string): readonly string[] => {
      const { properties, additionalProperties } = one;
      if (properties === undefined) return [];
      const below = Object.entries(properties).flatMap(([name, property]) => open(property, `${path}.${name}`));
      return additionalProperties === false ? below : [path, ...below];
    };
    const definitions = Object.entries(schema.definitions ?? {}).flatMap(([name, one]) => open(one, name));
    expect([...open(schema, 'values'), ...definitions]).to.deep.equal([]);
  });

  it('contain no password and no key', () => {
    const secrets = JSON.stringify(parse(read('values.yaml'))).match(/"[^"]*(password|secret|token)[^"]*":"[^"]+"/gi);
    expect((secrets ?? []).filter((text) => !/Key":"(password|secretKey)"/.test(text))).to.deep.equal([]);
  });

  it('fail without a meaning, or without a place in the README', () => {
    expect(() => valuesOf('# -- What it is\nname: x\nother: y')).to.throw('what other is for');
    expect(() => replaceValues('# Nothing', '# -- X\nname: x')).to.throw('marks');
    expect(valuesOf('map:\n  # A note.\n\n  # -- Its\n  # meaning.\n  name: [1]')).to.deep.equal([
      { path: 'map.name', default: '`[1]`', meaning: 'Its meaning.' },
    ]);
  });
});
