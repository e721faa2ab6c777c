import { openAsBlob, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Answer } from '../../client/index.ts';
import { type Action, type OptionDescription, stringOption } from '../command.ts';
import { group } from '../group.ts';
import { columns } from '../output.ts';
import { usageFailure } from '../terminal.ts';

/** Option of the commands that build a graph. */
export const ONTOLOGY_OPTION: OptionDescription = {
  type: 'string',
  multiple: true,
  value: 'KEY',
  meaning: 'match entities with this ontology (engram ontologies), can be repeated',
};

type ListedOntology = Answer<'/api/v1/ontologies', 'get'>[string];

const ontologies: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists your ontologies.',
    request: ({ api }) => api.json('GET', '/api/v1/ontologies'),
    show: (answer) => {
      const all = Object.entries(answer as Readonly<Record<string, ListedOntology>>);
      if (all.length === 0) return 'no ontologies yet';
      const rows = all.map(([key, { filename, size_bytes: size, uploaded_at: at, description }]) => [
        ...[key, filename, String(size), at.slice(0, 19), description ?? ''],
      ]);
      return columns([['KEY', 'FILE', 'BYTES', 'ADDED', 'DESCRIPTION'], ...rows]);
    },
  },
  {
    name: 'add',
    parameters: '<key> <file>',
    summary: 'Stores a file (.owl: RDF/XML or Turtle) under a key.',
    options: { description: { type: 'string', value: 'TEXT', meaning: 'what it is about' } },
    request: async (call) => {
      const [key = '', path = ''] = call.arguments;
      if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw usageFailure(`There is no file '${path}'.`);
      const form = new FormData();
      form.append('ontology_key', key);
      form.append('ontology_file', await openAsBlob(path), basename(path));
      const description = stringOption(call.options, 'description');
      if (description !== null) form.append('description', description);
      return call.api.json('POST', '/api/v1/ontologies', { body: form });
    },
    show: (_, { arguments: [key] }) => `${key} is stored: engram cognify --ontology ${key}`,
  },
  {
    name: 'delete',
    parameters: '<key>',
    summary: 'Deletes an ontology; graphs that were built with it stay as they are.',
    asks: ({ arguments: [key] }) => `Delete the ontology ${key}?`,
    request: ({ api, arguments: [key = ''] }) => api.json('DELETE', `/api/v1/ontologies/${encodeURIComponent(key)}`),
    show: (_, { arguments: [key] }) => `${key} is deleted`,
  },
];

export const ontologiesCommand = group(
  'ontologies',
  'Keeps ontologies, whose classes and individuals entities are matched with.',
  ontologies,
);
