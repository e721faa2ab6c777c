import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Answer } from '../../../client/index.ts';
import { address, engram } from '../api.ts';
import { ago, bytes, count } from '../format.ts';
import { NameForm } from '../forms.tsx';
import { askFirst, attempt, Empty, Failed, say, Waiting } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';

type Snapshot = Answer<'/api/v1/datasets/{dataset_id}/snapshots', 'get'>['snapshots'][number];

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The dataset as it was at a moment: to go back to, or to carry elsewhere. */
export function Snapshots({ dataset, datasetName }: { readonly dataset: string; readonly datasetName: string }) {
  const client = useQueryClient();
  const path = `/datasets/${dataset}/snapshots`;
  const snapshots = useQuery({
    queryKey: ['snapshots', dataset],
    queryFn: () => engram.get('/api/v1/datasets/{dataset_id}/snapshots', { path: { dataset_id: dataset } }),
    refetchInterval: ({ state }) => (state.data?.snapshots.some(isGoingOn) ? 1000 : false),
  });
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, done);
    for (const key of ['snapshots', 'datasets', 'permitted']) await client.invalidateQueries({ queryKey: [key] });
  };
  const take = async (name: string) => {
    await engram.post('/api/v1/datasets/{dataset_id}/snapshots', { path: { dataset_id: dataset }, body: { name } });
    say('The snapshot is taken.');
    await client.invalidateQueries({ queryKey: ['snapshots'] });
  };
  const restore = (snapshot: Snapshot) => {
    const copy = `${datasetName}-${snapshot.at.slice(0, 19).replaceAll(/[T:]/g, '-')}`;
    return act(
      () =>
        engram.post('/api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}/restore', {
          path: { dataset_id: dataset, snapshot_id: snapshot.id },
          body: { name: copy },
        }),
      `The dataset ${copy} is made from it.`,
    );
  };
  const remove = (snapshot: Snapshot) =>
    askFirst({
      title: `Delete the snapshot ${shortName(snapshot)}?`,
      text: 'The dataset stays as it is. What only the snapshot held is gone.',
      action: 'Delete the snapshot',
      run: () =>
        void act(
          () =>
            engram.delete('/api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}', {
              path: { dataset_id: dataset, snapshot_id: snapshot.id },
            }),
          'The snapshot was deleted.',
        ),
    });
  if (snapshots.isPending) return <Waiting />;
  if (snapshots.isError) return <Failed error={snapshots.error} onRetry={() => void snapshots.refetch()} />;
  const list = snapshots.data.snapshots;
  return (
    <Stack>
      <NameForm
        label="New snapshot"
        placeholder="before-import"
        action="Take"
        check={(value) => (NAME.test(value) ? null : 'Small letters, digits and hyphens')}
        onSubmit={take}
      />
      {list.length === 0 ? (
        <Empty title="No snapshots">
          A snapshot keeps everything of the dataset as it is now, until it is deleted.
        </Empty>
      ) : (
        <DataTable
          label="Snapshots"
          minWidth={320}
          columns={[
            'Snapshot',
            'State',
            { head: 'Documents', ta: 'right', visibleFrom: 'sm' },
            { head: 'Size', ta: 'right', visibleFrom: 'sm' },
            { head: 'Taken', visibleFrom: 'sm' },
            'What to do',
          ]}
        >
          {list.map((snapshot) => (
            <Table.Tr key={snapshot.id}>
              <Table.Td>{shortName(snapshot)}</Table.Td>
              <Table.Td>
                <StateBadge color={snapshot.failure === null ? 'green' : 'red'}>
                  {isGoingOn(snapshot) ? `${snapshot.done} of ${snapshot.total}` : snapshot.status}
                </StateBadge>
                {snapshot.failure === null ? null : <Text size="xs">{snapshot.failure.message}</Text>}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {count(snapshot.items)}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {snapshot.size_bytes === null ? '–' : bytes(snapshot.size_bytes)}
              </Table.Td>
              <Table.Td visibleFrom="sm">{ago(snapshot.at)}</Table.Td>
              <Table.Td>
                <Group gap="xs">
                  <Button size="compact-sm" variant="default" onClick={() => void restore(snapshot)}>
                    Restore as a copy
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    component="a"
                    href={address(`${path}/${encodeURIComponent(snapshot.id)}/file`)}
                    download
                  >
                    Download
                  </Button>
                  <Button size="compact-sm" variant="default" onClick={() => remove(snapshot)}>
                    Delete
                  </Button>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Stack>
  );
}

const isGoingOn = ({ status, failure }: Snapshot): boolean => failure === null && status !== 'complete';

/** The id begins with that of the dataset. */
const shortName = ({ id }: Snapshot): string => id.slice(id.indexOf('.') + 1);
