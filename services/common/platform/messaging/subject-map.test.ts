import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { METHODS } from '../../../../proto/gen/method-table.ts';
import type { Method } from './method.ts';
import * as auth from './methods/auth.ts';
import * as authManaged from './methods/auth-managed.ts';
import * as cognify from './methods/cognify.ts';
import * as cognifyManaged from './methods/cognify-managed.ts';
import * as improve from './methods/improve.ts';
import * as ingest from './methods/ingest.ts';
import * as ingestManaged from './methods/ingest-managed.ts';
import * as search from './methods/search.ts';
import * as snapshots from './methods/snapshots.ts';
import { describeService, serviceHealth } from './methods/system.ts';
import { methodFacts, methodTableText, PROTO_SERVICES, replaceSubjectMap } from './subject-map.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const sources = (folder: string) =>
  readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`);
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');

type NamedMethod = readonly [string, Method<unknown, unknown>];
const isMethod = (entry: readonly [string, unknown]): entry is NamedMethod =>
  typeof entry[1] === 'object' && entry[1] !== null && 'path' in entry[1];
const defined = [auth, authManaged, cognify, cognifyManaged, improve, ingest, ingestManaged, search, snapshots]
  .flatMap((module): (readonly [string, unknown])[] => Object.entries(module))
  .filter(isMethod);

describe('the subject map', () => {
  it('has every service of the proto files', () => {
    const declared = sources('proto/engram')
      .filter((file) => file.endsWith('.proto'))
      .flatMap((file) => [...read(file).matchAll(/^service (\w+)/gm)].map(([, name]) => name));
    expect(PROTO_SERVICES.map(({ name }) => name)).to.have.members(declared);
  });

  it('is what proto/README.md and the method table say', () => {
    const readme = read('proto/README.md');
    expect(replaceSubjectMap(readme)).to.equal(readme);
    expect(read('proto/gen/method-table.ts')).to.equal(methodTableText());
  });

  it('has each method defined once, on the subject of its service', () => {
    const everybodys = [describeService('search'), serviceHealth('search')];
    const paths = [...defined.map(([, { path }]) => path), ...everybodys.map(({ path }) => path)];
    expect(paths).to.have.members(Object.keys(METHODS));
    for (const [, { path, subject }] of defined) expect(subject).to.equal(`engram.${path}`);
    expect(everybodys.map(({ subject }) => subject)).to.deep.equal(['engram.search.Describe', 'engram.search.Health']);
  });

  it('names every service that asks', () => {
    const missing: string[] = [];
    for (const service of ['auth', 'ingest', 'cognify', 'search', 'improve', 'integrations']) {
      const calls = askedBy(service);
      for (const [name, { path }] of defined) {
        const callers = methodFacts.find((facts) => facts.path === path)?.callers ?? [];
        if (calls.has(name) && !callers.includes(service)) missing.push(`${service} asks ${path}`);
      }
    }
    expect(missing).to.deep.equal([]);
  });
});

/** Methods that a service's own sources hand to `messenger.call`, by their exported name. */
function askedBy(service: string): Set<string> {
  const asked = new Set<string>();
  let files: readonly string[];
  try {
    files = sources(`services/${service}`);
  } catch {
    return asked;
  }
  for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
    const source = read(file);
    const renamed = new Map([...source.matchAll(/(\w+) as (\w+)/g)].map(([, name = '', alias = '']) => [alias, name]));
    for (const [, name = ''] of source.matchAll(/\.call\(\s*(?:methods\.)?(\w+)/g))
      asked.add(renamed.get(name) ?? name);
  }
  return asked;
}
