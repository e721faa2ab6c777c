import { Autocomplete, Button, Group, PasswordInput, Select, Stack, Table, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Answer, ApiError, type Call } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { duration } from '../format.ts';
import { useMe } from '../queries.ts';
import { words } from '../runs.tsx';
import { PageTitle, Section } from '../shell.tsx';
import { complain, Failed, say, Waiting } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';

type Settings = Answer<'/api/v1/settings', 'get'>;
type Health = Answer<'/health/detailed', 'get'>;
type Provider = NonNullable<Call<'/api/v1/settings', 'post'>['body']['llm']>['provider'];

const settingsQuery = { queryKey: ['settings'], queryFn: () => engram.get('/api/v1/settings') };

export function SettingsPage() {
  const settings = useQuery(settingsQuery);
  const me = useMe();
  return (
    <Stack gap="xl">
      <div>
        <PageTitle title="Settings" />
        <Section title="Language model">
          {settings.isPending ? <Waiting /> : null}
          {settings.isError ? <Failed error={settings.error} onRetry={() => void settings.refetch()} /> : null}
          {settings.data === undefined ? null : me?.is_superuser ? (
            <ModelForm key={JSON.stringify(settings.data.llm)} llm={settings.data.llm} />
          ) : (
            <Text size="sm">
              {settings.data.llm.model} of {settings.data.llm.provider}. Superusers can change it.
            </Text>
          )}
        </Section>
      </div>
      <HealthList />
    </Stack>
  );
}

function ModelForm({ llm }: { readonly llm: Settings['llm'] }) {
  const client = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const [isSending, setSending] = useState(false);
  const form = useForm({
    initialValues: { provider: llm.provider, model: llm.model, apiKey: '' },
    validate: { model: (value) => (value.trim() === '' ? 'Name the model' : null) },
  });
  const suggestions = llm.models[form.values.provider] ?? [];
  const submit = form.onSubmit(async (values) => {
    setSending(true);
    setError(null);
    try {
      await engram.post('/api/v1/settings', {
        body: { llm: { ...values, provider: values.provider as Provider, model: values.model.trim() } },
      });
      await client.invalidateQueries({ queryKey: settingsQuery.queryKey });
      await client.invalidateQueries({ queryKey: ['health'] });
      say('Work that starts from now on uses this model.');
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setSending(false);
    }
  });
  const reset = async () => {
    try {
      await engram.delete('/api/v1/settings');
      await client.invalidateQueries({ queryKey: settingsQuery.queryKey });
      say('The models are those of the environment again.');
    } catch (failure) {
      complain(failure);
    }
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack maw={420} gap="sm">
        <Text size="sm" c="dimmed">
          {llm.apiKey === null
            ? 'Without the key of a provider the built-in rules are used: answers are quotes from your documents, and nothing leaves this server. With a key its model reads the documents and writes the answers.'
            : 'This model reads the documents and writes the answers.'}
        </Text>
        <Select
          label="Provider"
          data={llm.providers.map(({ value, label }) => ({ value, label }))}
          allowDeselect={false}
          {...form.getInputProps('provider')}
        />
        <Autocomplete label="Model" data={suggestions.map(({ value }) => value)} {...form.getInputProps('model')} />
        <PasswordInput
          label="API key of the provider"
          description={llm.apiKey === null ? 'None is stored' : `Stored: ${llm.apiKey}. Empty: it stays`}
          autoComplete="off"
          {...form.getInputProps('apiKey')}
        />
        {error === null ? null : <Failed error={error} />}
        <Group>
          <Button type="submit" loading={isSending}>
            Save
          </Button>
          <Button variant="default" onClick={() => void reset()}>
            Use those of the environment
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  relational_db: 'Documents and records',
  vector_db: 'Vectors',
  graph_db: 'Graph',
  file_storage: 'Files',
  llm_provider: 'Language model',
  embedding_service: 'Embeddings',
};

/** A component that is not healthy makes the answer 503, with the same body. */
async function readHealth(): Promise<Health> {
  try {
    return await engram.get('/health/detailed', { retries: 0 });
  } catch (error) {
    if (error instanceof ApiError && error.status === 503) return error.body as Health;
    throw error;
  }
}

function HealthList() {
  const health = useQuery({ queryKey: ['health'], queryFn: readHealth, refetchInterval: 15_000 });
  if (health.isPending) return <Waiting />;
  if (health.isError) return <Failed error={health.error} onRetry={() => void health.refetch()} />;
  const { version, uptime, components } = health.data;
  const started = new Date(Date.now() - uptime * 1000).toISOString();
  return (
    <section aria-label="Health">
      <Title order={2} size="h4" mb={4}>
        Health
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        Compatible with version {version} of the cognee API · up for {duration(started, new Date().toISOString())}
      </Text>
      <DataTable
        label="Health of the components"
        minWidth={320}
        columns={[
          'Component',
          'State',
          { head: 'By', visibleFrom: 'sm' },
          { head: 'Answers in', ta: 'right', visibleFrom: 'sm' },
          'Details',
        ]}
      >
        {Object.entries(components).map(([name, { status, provider, response_time_ms: ms, details }]) => (
          <Table.Tr key={name}>
            <Table.Td>{NAMES[name] ?? words(name)}</Table.Td>
            <Table.Td>
              <StateBadge color={status === 'healthy' ? 'green' : status === 'degraded' ? 'yellow' : 'red'}>
                {status}
              </StateBadge>
            </Table.Td>
            <Table.Td visibleFrom="sm">{provider}</Table.Td>
            <Table.Td ta="right" visibleFrom="sm">
              {ms} ms
            </Table.Td>
            <Table.Td>{details}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </section>
  );
}
