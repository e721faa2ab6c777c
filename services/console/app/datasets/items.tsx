import { ActionIcon, Button, Menu, Table, Text, Tooltip } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { address, engram } from '../api.ts';
import { DocumentDrawer, type OpenedDocument } from '../document.tsx';
import { bytes } from '../format.ts';
import { IconDots, IconDownload, IconRefresh, IconTrash } from '../icons.ts';
import { afterRun, type Item, isRunning, itemsQuery, progressQuery, usePermitted } from '../queries.ts';
import { askFirst, attempt, Empty, Failed, Waiting } from '../states.tsx';
import { Ago, DataTable, Pages, StateBadge } from '../table.tsx';

const PAGE = 50;
/** The list of what is built names all items at once. */
const MOST_LISTED = 1000;

export const titleOf = ({ displayName, label, name }: Item): string => displayName ?? label ?? name;

/** Whether the first words of a text are its title already. */
function beginsWithTitle(excerpt: string, item: Item): boolean {
  const words = (text: string) =>
    text
      .replace(/\s+/g, ' ')
      .replace(/ ?(…|\.\.\.)$/, '')
      .trim();
  return words(excerpt).startsWith(words(titleOf(item)));
}

export function ItemTable({ dataset }: { readonly dataset: string }) {
  const [at, setAt] = useState(1);
  const [opened, setOpened] = useState<OpenedDocument | null>(null);
  const running = isRunning(useQuery(progressQuery).data?.[dataset]);
  const items = useQuery({
    ...itemsQuery(dataset, (at - 1) * PAGE, PAGE),
    placeholderData: keepPreviousData,
    refetchInterval: running ? 3000 : false,
  });
  const total = items.data?.total ?? 0;
  const processed = useQuery({
    queryKey: ['items', dataset, 'processed'],
    queryFn: () => engram.get('/api/v1/datasets/{dataset_id}/processing-status', { path: { dataset_id: dataset } }),
    enabled: total > 0 && total <= MOST_LISTED,
    refetchInterval: running ? 3000 : false,
  });
  if (items.isPending) return <Waiting />;
  if (items.isError) return <Failed error={items.error} onRetry={() => void items.refetch()} />;
  if (total === 0) {
    return <Empty title="No documents yet">What is added to the dataset is listed here.</Empty>;
  }
  const built = new Map(processed.data?.items.map(({ id, completed }) => [id, completed]));
  return (
    <>
      <DataTable
        label="Documents"
        minWidth={320}
        columns={[
          'Document',
          { head: 'Text', ta: 'right', visibleFrom: 'sm' },
          'State',
          { head: 'Added', visibleFrom: 'sm' },
          { head: 'Actions', w: 44, isHidden: true },
        ]}
        highlightOnHover
      >
        {items.data.rows.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td maw={380}>
              <Button
                variant="subtle"
                size="compact-sm"
                px={0}
                onClick={() => setOpened({ dataset, item: item.id, name: titleOf(item) })}
                styles={{
                  label: { whiteSpace: 'normal', textAlign: 'left', overflow: 'visible', lineHeight: 1.4 },
                  inner: { justifyContent: 'start' },
                }}
                h="auto"
              >
                {titleOf(item)}
              </Button>
              {item.excerpt === undefined || beginsWithTitle(item.excerpt, item) ? null : (
                <Text size="xs" c="dimmed" className="clip">
                  {item.excerpt}
                </Text>
              )}
            </Table.Td>
            <Table.Td ta="right" visibleFrom="sm">
              {bytes(item.dataSize ?? 0)}
            </Table.Td>
            <Table.Td>
              <ItemState item={item} built={built.get(item.id)} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Ago time={item.createdAt} />
            </Table.Td>
            <Table.Td>
              <ItemMenu dataset={dataset} item={item} />
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <Pages total={Math.ceil(total / PAGE)} value={at} onChange={setAt} />
      <DocumentDrawer opened={opened} onClose={() => setOpened(null)} />
    </>
  );
}

function ItemState({ item: { failure }, built }: { readonly item: Item; readonly built: boolean | undefined }) {
  if (failure !== undefined) {
    return (
      <Tooltip label={failure.message} multiline maw={420} events={{ hover: true, focus: true, touch: true }}>
        <StateBadge color="red" tabIndex={0}>
          {failure.isSetAside ? 'Set aside' : 'Failed'}
        </StateBadge>
      </Tooltip>
    );
  }
  if (built === undefined) return <Text size="sm">–</Text>;
  return <StateBadge color={built ? 'green' : 'gray'}>{built ? 'In the graph' : 'Not built'}</StateBadge>;
}

function ItemMenu({ dataset, item }: { readonly dataset: string; readonly item: Item }) {
  const client = useQueryClient();
  const mayDelete = usePermitted('delete').has(dataset);
  const mayWrite = usePermitted('write').has(dataset);
  const name = titleOf(item);
  const act = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, done);
    afterRun(client);
  };
  const retry = () =>
    act(
      () =>
        engram.post('/api/v1/datasets/{dataset_id}/data/retry', {
          path: { dataset_id: dataset },
          body: { data_ids: [item.id] },
        }),
      `${name} is tried again.`,
    );
  const forget = () =>
    askFirst({
      title: `Forget ${name}?`,
      text: 'The document and everything that was learned from it are erased. This cannot be undone.',
      action: 'Forget it',
      run: () =>
        void act(
          () =>
            engram.delete('/api/v1/datasets/{dataset_id}/data/{data_id}', {
              path: { dataset_id: dataset, data_id: item.id },
            }),
          `${name} is forgotten.`,
        ),
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component="a"
          href={address(`/datasets/${dataset}/data/${item.id}/raw`)}
          download
          leftSection={<IconDownload size={16} />}
        >
          Download the text
        </Menu.Item>
        <Menu.Item
          component="a"
          href={address(`/datasets/${dataset}/data/${item.id}/original`)}
          download
          leftSection={<IconDownload size={16} />}
        >
          Download the original
        </Menu.Item>
        {item.failure !== undefined && mayWrite ? (
          <Menu.Item leftSection={<IconRefresh size={16} />} onClick={() => void retry()}>
            Try again
          </Menu.Item>
        ) : null}
        {mayDelete ? (
          <Menu.Item leftSection={<IconTrash size={16} />} onClick={forget}>
            Forget
          </Menu.Item>
        ) : null}
      </Menu.Dropdown>
    </Menu>
  );
}
