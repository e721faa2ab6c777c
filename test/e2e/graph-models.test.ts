import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type StartedApp, startApp } from '../support/start-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const TEXT = `Grace Hopper worked for the United States Navy in Arlington. Ada Lovelace met Charles Babbage in London.
Katherine Johnson worked at NASA in Hampton. Dorothy Vaughan worked at NASA, too.`;

describe('graph model routes without a language model', () => {
  let app: StartedApp;
  let wire: Wire;
  before(async () => {
    app = await startApp();
    wire = createWire(app.baseUrl);
  });
  after(() => app.stop());

  const infer = (fields: Record<string, string>, files: readonly (readonly [string, string | Uint8Array])[] = []) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const [name, content] of files) form.append('data', new Blob([content as Uint8Array<ArrayBuffer>]), name);
    return wire.form('/llm/infer-schema', form);
  };

  it('describe a schema in words as a prompt', async () => {
    const graphModel = {
      title: 'Company',
      type: 'object',
      properties: { people: { type: 'array', items: { $ref: '#/$defs/Person' } } },
      required: ['people'],
      $defs: {
        Person: {
          type: 'object',
          description: 'Somebody who works there',
          properties: {
            name: { type: 'string' },
            role: { type: 'string', enum: ['engineer', 'clerk'] },
            reports_to: { anyOf: [{ $ref: '#/$defs/Person' }, { type: 'null' }] },
          },
          required: ['name'],
        },
      },
    };
    const { status, json } = await wire.post('/llm/custom-prompt', { graphModel });
    expect(status).to.equal(200);
    expect(json.customPrompt).to.include('model "Company"');
    expect(json.customPrompt).to.include('- Person: Somebody who works there\n  - name (string, always)');
    expect(json.customPrompt).to.include('  - role (string) One of: engineer, clerk.');
    expect(json.customPrompt).to.include('  - reports_to (relation from this to Person)');
    expect((await wire.post('/llm/custom-prompt', { graph_model: {} })).status).to.equal(200);
    expect((await wire.post('/llm/custom-prompt', {})).json.detail[0]).to.include({ type: 'missing' });
  });

  it('infer classes and relations of a text, as a model that remember accepts', async () => {
    const { status, json } = await infer({ text: TEXT });
    expect(status).to.equal(200);
    const { graphSchema: schema } = json;
    expect(schema).to.include({ title: 'InferredGraph', type: 'object' });
    expect(Object.keys(schema.$defs)).to.include.members(['Person', 'Place']);
    expect(schema.$defs.Person.required).to.deep.equal(['name']);
    for (const definition of Object.values(schema.$defs) as {
      properties: Record<string, { items?: { $ref: string } }>;
    }[]) {
      for (const { items } of Object.values(definition.properties)) {
        if (items !== undefined) expect(Object.keys(schema.$defs)).to.include(items.$ref.replace('#/$defs/', ''));
      }
    }
    const form = new FormData();
    form.append('datasetName', `m${randomUUID()}`);
    form.append('raw_data', TEXT);
    form.append('graph_model', JSON.stringify(schema));
    form.append('self_improvement', 'false');
    expect((await wire.form('/remember', form)).json).to.include({ status: 'completed' });
  });

  it('read files, and beginning, middle and end of long texts', async () => {
    const { json } = await infer({}, [['people.md', `# People\n\n${TEXT}`]]);
    expect(Object.keys(json.graphSchema.$defs)).to.include('Person');
    const long = `${TEXT}\n\n${'Nothing happened that day. '.repeat(20_000)}`;
    expect(Object.keys((await infer({ text: long })).json.graphSchema.$defs)).to.include('Person');
  });

  it('refuse files that cannot be read', async () => {
    const nothing = { error: 'Either text or at least one file must be provided.' };
    expect(await infer({ text: ' ' })).to.deep.include({ status: 400, json: nothing });
    expect((await infer({ text: 'x', parameters: '{' })).json).to.deep.equal({
      error: 'Invalid JSON in request parameters.',
    });
    const binary = await infer({}, [['a.exe', new Uint8Array([0x4d, 0x5a, 0x90, 0, 3, 0, 0, 0])]]);
    expect(binary.status).to.be.oneOf([400, 415]);
  });
});
