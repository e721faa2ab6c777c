import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeDataDir, startProcess } from '../support/engram-process.ts';
import { itWhenWhole } from '../support/extent.ts';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { VEHICLES, VEHICLES_URI } from '../support/vehicles-ontology.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';

const TEXT = 'Ada Lovelace drives a Volkswagon Golf in London. The Volkswagen Golf is fast.';

interface Graph {
  readonly names: readonly string[];
  /** `source relation target` of edges that no document states. */
  readonly edges: readonly string[];
  property(label: string, name: string): unknown;
}

function upload(wire: Wire, key: string, content: string, fileName = 'vehicles.owl'): Promise<Answer> {
  const form = new FormData();
  form.append('ontology_key', key);
  form.append('ontology_file', new Blob([content]), fileName);
  return wire.form('/ontologies', form);
}

function remember(wire: Wire, dataset: string, keys: readonly string[], text = TEXT): Promise<Answer> {
  const form = new FormData();
  form.append('datasetName', dataset);
  form.append('raw_data', text);
  for (const key of keys) form.append('ontology_key', key);
  return wire.form('/remember', form);
}

async function graphOf(wire: Wire, dataset: string): Promise<Graph> {
  const { nodes, edges } = (await wire.get(`/datasets/${dataset}/graph`)).json;
  const labels = new Map<string, string>(nodes.map((node: { id: string; label: string }) => [node.id, node.label]));
  const things = nodes.filter(({ type }: { type: string }) => type === 'Entity' || type === 'EntityType');
  return {
    names: things.map(({ label }: { label: string }) => label).sort(),
    edges: edges.map(({ source, label, target }: Record<'source' | 'label' | 'target', string>) =>
      [labels.get(source), label, labels.get(target)].join(' '),
    ),
    property: (label, name) => things.find((node: { label: string }) => node.label === label)?.properties[name],
  };
}

describe('ontologies', () => {
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
    expect((await upload(wire, 'vehicles', VEHICLES)).status).to.equal(200);
  });
  after(() => app.stop());

  it('name entities by their individuals, with classes and properties, until the item is forgotten', async () => {
    const { dataset_id: dataset, items } = (await remember(wire, 'cars', ['vehicles'])).json;
    const graph = await graphOf(wire, dataset);
    expect(graph.names).to.include.members(['volkswagen golf', 'car', 'vehicle', 'volkswagen', 'manufacturer']);
    expect(graph.names).not.to.include.members(['volkswagon golf', 'toyota']);
    expect(graph.property('volkswagen golf', 'ontology_valid')).to.equal(true);
    expect(graph.property('volkswagen golf', 'ontology_uri')).to.equal(`${VEHICLES_URI}Volkswagen_Golf`);
    expect(graph.property('volkswagen golf', 'aliases')).to.deep.equal(['Volkswagon Golf']);
    expect(graph.property('london', 'ontology_valid')).to.equal(undefined);
    expect(graph.edges).to.include.members([
      ...['volkswagen golf is_a car', 'car is_a vehicle', 'volkswagen is_a manufacturer'],
      'volkswagen golf has_manufacturer volkswagen',
      'ada lovelace drive volkswagen golf',
    ]);
    await remember(wire, 'cars', [], 'Ada Lovelace lives in London.');
    const removed = await wire.remove(`/datasets/${dataset}/data/${items[0].id}`);
    expect(removed.status).to.equal(200);
    const left = await graphOf(wire, dataset);
    expect(left.names).to.include('ada lovelace');
    expect(left.names).not.to.include.members(['volkswagen golf']);
    expect(left.names.filter((name) => /car|vehicle|manufacturer|volkswagen/.test(name))).to.deep.equal([]);
  });

  it('are used by cognify, and by later builds of an item whose content is replaced, also when they were deleted', async () => {
    await upload(wire, 'passing', VEHICLES);
    const { dataset_id: dataset } = (await wire.post('/add', { data: TEXT, datasetName: 'later' })).json;
    const run = await wire.post('/cognify', { datasets: ['later'], ontologyKey: [' passing '] });
    expect(run.status).to.equal(200);
    expect((await graphOf(wire, dataset)).edges).to.include('car is_a vehicle');
    expect((await wire.remove('/ontologies/passing')).json).to.deep.equal({
      status: 'success',
      ontology_key: 'passing',
    });
    const [{ id }] = (await wire.get(`/datasets/${dataset}/data`)).json;
    const data = 'Ada Lovelace sold the Volkswagen Golf to Charles Babbage.';
    expect((await wire.patch(`/update?data_id=${id}&dataset_id=${dataset}`, { data })).status).to.equal(200);
    const graph = await graphOf(wire, dataset);
    expect(graph.names).to.include('charles babbage');
    expect(graph.edges).to.include('car is_a vehicle');
  });

  it('that cannot be read, or hold no classes, leave a warning and the graph as it is', async () => {
    const bomb = Array.from({ length: 12 }, (_, at) => `<!ENTITY a${at + 1} "${`&a${at};`.repeat(12)}">`).join('');
    const cases: Readonly<Record<string, readonly [string, RegExp]>> = {
      bomb: [`<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "lol">${bomb}]><r>&a12;</r>`, /has no effect/],
      broken: ['<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><a', /'broken.owl'.*cannot be read/],
      noise: ['\u0000\u0001 no ontology at all', /cannot be read/],
      empty: ['', /names no classes/],
      deep: ['<a>'.repeat(200_000), /has no effect/],
    };
    for (const [key, [content, warning]] of Object.entries(cases)) {
      expect((await upload(wire, key, content, `${key}.owl`)).status).to.equal(200);
      const answer = await remember(wire, `hostile-${key}`, [key]);
      expect(answer.status, key).to.equal(200);
      expect(answer.json.warnings?.join(), key).to.match(warning);
      expect((await graphOf(wire, answer.json.dataset_id)).names, key).to.include('ada lovelace');
    }
  });

  it('are the user’s own: 409 for keys of others, and no dataset is made', async () => {
    const refused = await remember(wire, 'unmade', ['vehicles', 'nobodys']);
    expect(refused.status).to.equal(409);
    expect(refused.json.error).to.match(/Ontology key 'nobodys' not found$/);
    const names = (await wire.get('/datasets')).json.map(({ name }: { name: string }) => name);
    expect(names).not.to.include('unmade');
  });

  it('larger than 10 MiB are refused', async () => {
    const answer = await upload(wire, 'large', ' '.repeat(10 * 1024 * 1024 + 1));
    expect(answer.status).to.equal(413);
  });
});

describe('the ontology of the server', () => {
  const data = makeDataDir();
  const file = join(data.path, 'vehicles.owl');
  const environment = { ONTOLOGY_FILE_PATH: file, ONTOLOGY_MODE: 'strict' };
  const known = ['car', 'manufacturer', 'vehicle', 'volkswagen', 'volkswagen golf'];
  before(() => writeFile(file, VEHICLES));
  after(() => data.remove());

  it('is used where a request names none; in strict mode only what it knows is in the graph', async () => {
    const app = await startApp(environment);
    const wire = createWire(app.baseUrl);
    const dataset = (await wire.upload('cars', { name: 'golf.txt', content: TEXT })).json.dataset_id;
    expect((await wire.post('/cognify', { datasets: ['cars'] })).status).to.equal(200);
    expect((await graphOf(wire, dataset)).names).to.deep.equal(known);
    expect((await wire.post('/search', { query: 'Who drives a car?', datasets: ['cars'] })).text).to.include('Ada');
    await app.stop();
  });

  itWhenWhole('is that of its beginning in a run that goes on after a kill', async () => {
    const dataDir = join(data.path, 'data');
    const killed = await startProcess({ dataDir, environment });
    const texts = Array.from({ length: 10 }, (_, at) => ({ name: `${at}.txt`, content: `${TEXT} It was day ${at}.` }));
    const dataset = (await createWire(killed.baseUrl).upload('cars', ...texts)).json.dataset_id;
    await createWire(killed.baseUrl).post('/cognify', { datasets: ['cars'], runInBackground: true });
    await killed.kill();
    await rm(file);
    const server = await startProcess({ dataDir, environment: { ONTOLOGY_MODE: 'strict' } });
    const wire = createWire(server.baseUrl);
    await untilBuilt(wire, dataset);
    expect((await graphOf(wire, dataset)).names).to.deep.equal(known);
    await server.stop();
  });
});

async function untilBuilt(wire: Wire, dataset: string): Promise<void> {
  for (;;) {
    const status = (await wire.get(`/datasets/status?dataset=${dataset}`)).json[dataset];
    if (status === 'DATASET_PROCESSING_COMPLETED') return;
    expect(status).not.to.equal('DATASET_PROCESSING_ERRORED');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
