import { Button, Group, JsonInput, NumberInput, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { engram } from '../api.ts';
import { count } from '../format.ts';
import { readItems } from '../queries.ts';
import { Section } from '../shell.tsx';
import { complain, Failed, say, Waiting } from '../states.tsx';

const SCHEMA = '/api/v1/datasets/{dataset_id}/schema';

/** How a dataset is built, other than by the button of its page. */
export function Options({ dataset }: { readonly dataset: string }) {
  const stored = useQuery({
    queryKey: ['schema', dataset],
    queryFn: () => engram.get(SCHEMA, { path: { dataset_id: dataset } }),
    refetchOnWindowFocus: false,
  });
  if (stored.isPending) return <Waiting />;
  if (stored.isError) return <Failed error={stored.error} onRetry={() => void stored.refetch()} />;
  const { graph_schema: schema, custom_prompt: prompt } = stored.data;
  const isStored = schema !== null && Object.keys(schema).length > 0;
  return (
    <Stack gap="xl" maw={720}>
      <BuildOptions dataset={dataset} schema={isStored ? JSON.stringify(schema, null, 2) : ''} prompt={prompt ?? ''} />
      <Embedding dataset={dataset} />
    </Stack>
  );
}

/** Number of texts that a schema is drawn from. */
const SAMPLES = 3;

interface BuildOptionsProps {
  readonly dataset: string;
  /** Stored for all builds; '' for none. */
  readonly schema: string;
  readonly prompt: string;
}

function BuildOptions({ dataset, schema, prompt }: BuildOptionsProps) {
  const client = useQueryClient();
  const [working, setWorking] = useState<'schema' | 'prompt' | 'build' | 'store' | null>(null);
  const form = useForm({
    initialValues: { schema, prompt, size: '' as number | '' },
    validate: { schema: checkSchema },
  });
  const doing = async (what: NonNullable<typeof working>, work: () => Promise<unknown>) => {
    setWorking(what);
    await work().catch(complain);
    setWorking(null);
  };
  const suggestSchema = async () => {
    const { rows } = await readItems(dataset, { limit: SAMPLES });
    const texts = await Promise.all(
      rows.map(({ id }) =>
        engram.get('/api/v1/datasets/{dataset_id}/data/{data_id}/raw', { path: { dataset_id: dataset, data_id: id } }),
      ),
    );
    const body = { text: texts.join('\n\n').slice(0, 20_000) };
    const { graphSchema } = await engram.post('/api/v1/llm/infer-schema', { body });
    form.setFieldValue('schema', JSON.stringify(graphSchema, null, 2));
  };
  const suggestPrompt = async () => {
    const graphModel = JSON.parse(form.values.schema) as Record<string, unknown>;
    const { customPrompt } = await engram.post('/api/v1/llm/custom-prompt', { body: { graphModel } });
    form.setFieldValue('prompt', customPrompt);
  };
  const build = form.onSubmit(({ schema, prompt, size }) =>
    doing('build', async () => {
      const response = await engram.send('post', '/api/v1/cognify', {
        body: {
          dataset_ids: [dataset],
          run_in_background: true,
          ...(schema.trim() === '' ? {} : { graph_model: JSON.parse(schema) }),
          ...(prompt.trim() === '' ? {} : { custom_prompt: prompt }),
          ...(size === '' ? {} : { chunk_size: size }),
        },
      });
      // It also says what has no effect on this server.
      say(response.headers.get('warning')?.replace(/^\d+ \S+ "?|"$/g, '') ?? 'The build has started.');
      await client.invalidateQueries({ queryKey: ['progress'] });
    }),
  );
  const store = form.onSubmit(({ schema, prompt }) =>
    doing('store', async () => {
      const body = { graph_schema: schema.trim() === '' ? {} : JSON.parse(schema), custom_prompt: prompt.trim() };
      await engram.put(SCHEMA, { path: { dataset_id: dataset }, body });
      say('Later builds use this schema and this prompt.');
      await client.invalidateQueries({ queryKey: ['schema', dataset] });
    }),
  );
  const hasSchema = form.values.schema.trim() !== '' && checkSchema(form.values.schema) === null;
  return (
    <Section
      title="Build with options"
      about="They hold for this build, or for all later ones when they are stored. Schema and prompt are for the language model that reads the texts; a server without one says so."
    >
      <form onSubmit={build} noValidate>
        <Stack gap="sm" align="flex-start">
          <JsonInput
            w="100%"
            label="Schema"
            description="JSON schema of the entities to look for, with a title"
            autosize
            minRows={4}
            maxRows={16}
            formatOnBlur
            {...form.getInputProps('schema')}
          />
          <Button
            size="xs"
            variant="default"
            loading={working === 'schema'}
            onClick={() => void doing('schema', suggestSchema)}
          >
            Suggest one from the newest documents
          </Button>
          <Textarea
            w="100%"
            label="Prompt"
            description="Instructions in place of the built-in ones"
            autosize
            minRows={3}
            maxRows={12}
            {...form.getInputProps('prompt')}
          />
          <Button
            size="xs"
            variant="default"
            disabled={!hasSchema}
            loading={working === 'prompt'}
            onClick={() => void doing('prompt', suggestPrompt)}
          >
            Suggest one for the schema
          </Button>
          <NumberInput
            label="Tokens of a passage at most"
            placeholder="The default of the server"
            min={1}
            allowDecimal={false}
            {...form.getInputProps('size')}
          />
          <Group gap="xs">
            <Button type="submit" loading={working === 'build'}>
              Build with these
            </Button>
            <Button variant="default" loading={working === 'store'} onClick={() => store()}>
              Store schema and prompt
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function checkSchema(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    const schema = JSON.parse(text) as { readonly title?: unknown } | null;
    return typeof schema?.title === 'string' && schema.title.trim() !== '' ? null : 'The schema needs a title';
  } catch {
    return 'This is no JSON';
  }
}

const EMBEDDING = '/api/v1/datasets/embedding/{dataset_id}';

/** Which model the vectors are of. To ask is to move: the contract has no route that only reads it. */
function Embedding({ dataset }: { readonly dataset: string }) {
  const [model, setModel] = useState('');
  const [wanted, setWanted] = useState<string | null>(null);
  const state = useQuery({
    queryKey: ['embedding', dataset, wanted],
    queryFn: () => engram.put(EMBEDDING, { path: { dataset_id: dataset }, body: { model: wanted || null } }),
    enabled: wanted !== null,
    // Repeated until the vectors have moved.
    refetchInterval: ({ state: { data } }) => (data?.migration ? 2000 : false),
    refetchOnWindowFocus: false,
  });
  const { embedding, migration, failure } = state.data ?? {};
  return (
    <Section
      title="Vectors"
      about="After the server was given another embedding model, the vectors of this dataset can be moved to it. Search uses the former ones meanwhile."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setWanted(model.trim());
          if (wanted !== null) void state.refetch();
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Embedding model"
            placeholder="The one of the server"
            value={model}
            onChange={(event) => setModel(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={state.isFetching && !migration}>
            Move the vectors
          </Button>
        </Group>
      </form>
      <Stack gap={4} mt="xs" aria-live="polite">
        {state.isError ? <Failed error={state.error} /> : null}
        {failure ? <Text size="sm">The last move failed: {failure.message}</Text> : null}
        {migration ? (
          <Text size="sm">
            Moving from {migration.from.model} to {migration.to.model}: {count(migration.done)} of{' '}
            {count(migration.total)}
          </Text>
        ) : embedding ? (
          <Text size="sm">
            The vectors are of {embedding.model}, {count(embedding.dimensions)} dimensions.
          </Text>
        ) : state.data === undefined ? null : (
          <Text size="sm">There are no vectors yet.</Text>
        )}
      </Stack>
    </Section>
  );
}
