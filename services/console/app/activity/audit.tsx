import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { address, engram } from '../api.ts';
import { IconDownload } from '../icons.ts';
import { useMe } from '../queries.ts';
import { words } from '../runs.tsx';
import { Empty, Failed, Waiting } from '../states.tsx';
import { Ago, DataTable } from '../table.tsx';

type Entry = Answer<'/api/v1/audit', 'get'>['records'][number];
type Names = Answer<'/api/v1/audit', 'get'>['names'];

const PAGE = 50;

/** Who changed what, of the tenant in which the person works; in the personal space that of accounts and the server. */
export function AuditLog() {
  const me = useMe();
  const [action, setAction] = useState('');
  const tenant = me?.tenant_id ?? 'personal';
  const records = useInfiniteQuery({
    queryKey: ['audit', tenant, action],
    queryFn: ({ pageParam }) =>
      engram.get('/api/v1/audit', {
        query: {
          tenant_id: tenant,
          limit: PAGE,
          action: action || undefined,
          after: pageParam === '' ? undefined : pageParam,
        },
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: 15_000,
  });
  return (
    <Stack>
      <Group align="flex-end" justify="space-between">
        <TextInput
          label="Only the action"
          placeholder="grant.given"
          value={action}
          onChange={(event) => setAction(event.currentTarget.value.trim())}
        />
        <Button
          component="a"
          href={address(`/audit/export?tenant_id=${tenant}`)}
          download
          variant="default"
          leftSection={<IconDownload size={16} />}
        >
          Export the log
        </Button>
      </Group>
      {records.isPending ? <Waiting /> : null}
      {records.isError ? <Failed error={records.error} onRetry={() => void records.refetch()} /> : null}
      {records.data?.pages[0]?.records.length === 0 ? (
        <Empty title="No entries">Changes of accounts, permissions, keys and data are recorded here.</Empty>
      ) : null}
      {records.data === undefined ? null : (
        <DataTable label="Audit log" minWidth={900} columns={['When', 'Action', 'By', 'What', 'Details']}>
          {records.data.pages.flatMap(({ records: some, names }) =>
            some.map((record) => (
              <Table.Tr key={record.number}>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  <Ago time={record.at} />
                </Table.Td>
                <Table.Td>{record.action}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Named id={record.actor} names={names} />
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Named id={record.subject} names={names} />
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{detailsOf(record, names)}</Table.Td>
              </Table.Tr>
            )),
          )}
        </DataTable>
      )}
      {records.hasNextPage ? (
        <Button variant="default" onClick={() => void records.fetchNextPage()} loading={records.isFetchingNextPage}>
          Show more
        </Button>
      ) : null}
    </Stack>
  );
}

/** The name or address that the id has now, and the id; the id alone where it has none. */
function Named({ id, names }: { readonly id: string | null; readonly names: Names }) {
  if (id === null) return 'the server';
  const name = nameOf(id, names);
  if (name === id) return id;
  return (
    <>
      {name}
      <Text size="xs" c="dimmed">
        {id}
      </Text>
    </>
  );
}

function nameOf(id: string, names: Names): string {
  return Object.hasOwn(names, id) ? (names[id] ?? id) : id;
}

function detailsOf({ details }: Entry, names: Names): string {
  const shown = (value: unknown) => (typeof value === 'string' ? nameOf(value, names) : JSON.stringify(value));
  return Object.entries(details)
    .map(([name, value]) => `${words(name)}: ${shown(value)}`)
    .join(', ');
}
