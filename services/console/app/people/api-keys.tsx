import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiKey } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { ago } from '../format.ts';
import { FormDialog } from '../forms.tsx';
import { IconPlus } from '../icons.ts';
import { datasetsQuery } from '../queries.ts';
import { askFirst, attempt, Empty, Failed, Waiting } from '../states.tsx';
import { Ago, DataTable } from '../table.tsx';
import { DEFAULT_LIMITS, type KeyLimits, LimitFields, limitsOf } from './key-limits.tsx';
import { Secret } from './secret.tsx';

const keysQuery = { queryKey: ['api-keys'], queryFn: () => engram.get('/api/v1/auth/api-keys') };

export function ApiKeys() {
  const client = useQueryClient();
  const keys = useQuery(keysQuery);
  const datasets = useQuery(datasetsQuery).data ?? [];
  const [isNew, { open, close }] = useDisclosure();
  const [created, setCreated] = useState<ApiKey | null>(null);
  const remove = (key: ApiKey) =>
    askFirst({
      title: `Delete the key ${key.name ?? key.label}?`,
      text: 'Programs that use it are refused from then on.',
      action: 'Delete the key',
      run: async () => {
        const path = { api_key_id: key.id };
        await attempt(() => engram.delete('/api/v1/auth/api-keys/{api_key_id}', { path }), 'The key was deleted.');
        await client.invalidateQueries({ queryKey: keysQuery.queryKey });
      },
    });
  if (keys.isPending) return <Waiting />;
  if (keys.isError) return <Failed error={keys.error} onRetry={() => void keys.refetch()} />;
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      New key
    </Button>
  );
  return (
    <Stack>
      {created === null ? null : (
        <Secret title={`The key ${created.name ?? ''}`} secret={created.key} onClose={() => setCreated(null)} />
      )}
      {keys.data.length === 0 ? (
        <Empty title="No API keys" action={create}>
          Programs sign in with a key, sent as X-Api-Key: the command line, agents over MCP, your own scripts.
        </Empty>
      ) : (
        <>
          <Group justify="flex-end">{create}</Group>
          <DataTable
            label="API keys"
            minWidth={320}
            columns={[
              'Name',
              'May',
              { head: 'Datasets', visibleFrom: 'sm' },
              { head: 'Last used', visibleFrom: 'sm' },
              { head: 'Expires', visibleFrom: 'sm' },
              'What to do',
            ]}
          >
            {keys.data.map((key) => (
              <Table.Tr key={key.id}>
                <Table.Td>
                  {key.name ?? '–'}
                  <Text size="xs" c="dimmed">
                    {key.label}
                  </Text>
                </Table.Td>
                <Table.Td>{key.permissions?.join(', ') ?? 'everything you may'}</Table.Td>
                <Table.Td visibleFrom="sm">
                  {key.datasets?.map((id) => datasets.find((each) => each.id === id)?.name ?? id).join(', ') ?? 'all'}
                </Table.Td>
                <Table.Td visibleFrom="sm">{key.last_used_at === null ? 'never' : ago(key.last_used_at)}</Table.Td>
                <Table.Td visibleFrom="sm">
                  {key.expires_at === null ? 'never' : <Ago time={key.expires_at} />}
                </Table.Td>
                <Table.Td>
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => remove(key)}
                    aria-label={`Delete the key ${key.name ?? key.label}`}
                  >
                    Delete
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </>
      )}
      <NewKey
        opened={isNew}
        onClose={close}
        onCreated={(key) => {
          setCreated(key);
          close();
        }}
      />
    </Stack>
  );
}

interface NewKeyProps {
  readonly opened: boolean;
  onClose(): void;
  onCreated(key: ApiKey): void;
}

function NewKey({ opened, onClose, onCreated }: NewKeyProps) {
  const client = useQueryClient();
  const [error, setError] = useState<Error | null>(null);
  const [isSending, setSending] = useState(false);
  const form = useForm<{ name: string } & KeyLimits>({
    initialValues: { name: '', ...DEFAULT_LIMITS },
    validate: { name: (value) => (value.trim() === '' ? 'Say what it is for' : null) },
  });
  const submit = form.onSubmit(async ({ name, ...chosen }) => {
    setError(null);
    setSending(true);
    try {
      const { lifetime, ...limits } = limitsOf(chosen);
      const key = await engram.post('/api/v1/auth/api-keys', {
        body: { name: name.trim(), ...limits, ...(lifetime === null ? {} : { expires_at: lifetime }) },
      });
      await client.invalidateQueries({ queryKey: keysQuery.queryKey });
      form.reset();
      onCreated(key);
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setSending(false);
    }
  });
  return (
    <FormDialog
      title="New API key"
      action="Create"
      opened={opened}
      isSending={isSending}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextInput label="What it is for" placeholder="laptop" data-autofocus {...form.getInputProps('name')} />
      <LimitFields form={form} />
      {error === null ? null : <Failed error={error} />}
    </FormDialog>
  );
}
