import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SERVICE_NAMES } from '../../domain/service-paths.ts';
import { SERVICES } from './codec.ts';
import { methodFacts, methodTableText, replaceSubjectMap } from './subject-map.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const sources = (folder: string) =>
  readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`);
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8');

describe('the subject map', () => {
  it('has every service of the proto files', () => {
    const declared = sources('proto/engram')
      .filter((file) => file.endsWith('.proto'))
      .flatMap((file) => [...read(file).matchAll(/^service (\w+)/gm)].map(([, name]) => name));
    expect(Object.values(SERVICES).map(({ name }) => name)).to.have.members(declared);
  });

  it('is what proto/README.md and the method table say', () => {
    const readme = read('proto/README.md');
    expect(replaceSubjectMap(readme)).to.equal(readme);
    expect(read('proto/gen/method-table.ts')).to.equal(methodTableText());
  });

  it('names every service that asks', () => {
    const missing = [...SERVICE_NAMES].flatMap((service) =>
      askedBy(service)
        .filter((path) => !methodFacts.find((facts) => facts.path === path)?.callers.includes(service))
        .map((path) => `${service} asks ${path}`),
    );
    expect(missing).to.deep.equal([]);
  });
});

/** Paths of the methods that a service's own sources call. */
function askedBy(service: string): string[] {
  const files = sources(`services/${service}`).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const calls = files.flatMap((file) => [...read(file).matchAll(/\.call\(\s*'([\w.]+)'/g)]);
  return [...new Set(calls.map(([, path = '']) => path))];
}
