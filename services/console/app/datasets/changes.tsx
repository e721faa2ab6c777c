import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { DocumentDrawer, type OpenedDocument } from '../document.tsx';
import { ago } from '../format.ts';
import { usePermitted } from '../queries.ts';
import { complain, Empty, Failed, say, Waiting } from '../states.tsx';
import { StateBadge } from '../table.tsx';

const PATH = '/api/v1/datasets/{dataset_id}/supersessions';
type Change = Answer<typeof PATH, 'get'>['supersessions'][number];

const PAGE = 50;

/** Facts that newer ones took the place of, each of which a person can let stand again. */
export function Changes({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const [opened, setOpened] = useState<OpenedDocument | null>(null);
  const changes = useInfiniteQuery({
    queryKey: ['changes', dataset],
    queryFn: ({ pageParam }) =>
      engram.get(PATH, {
        path: { dataset_id: dataset },
        query: { limit: PAGE, ...(pageParam === '' ? {} : { after: pageParam }) },
      }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const revert = async ({ id }: Change) => {
    try {
      await engram.post(`${PATH}/{supersession_id}/revert`, { path: { dataset_id: dataset, supersession_id: id } });
      say('The older fact stands again.');
    } catch (error) {
      complain(error);
    }
    await client.invalidateQueries({ queryKey: ['changes', dataset] });
  };
  if (changes.isPending) return <Waiting />;
  if (changes.isError) return <Failed error={changes.error} onRetry={() => void changes.refetch()} />;
  const list = changes.data.pages.flatMap(({ supersessions }) => supersessions);
  if (list.length === 0) {
    return (
      <Empty title="No fact has changed">
        When a newer document says something else than an older one, for example where somebody lives, both are listed
        here, and answers use the newer.
      </Empty>
    );
  }
  return (
    <Stack gap="sm">
      {list.map((change) => (
        <Paper key={change.id} withBorder p="sm" component="article" aria-label={change.explanation}>
          <Group justify="space-between" wrap="nowrap" align="flex-start">
            <Text size="sm">{change.explanation}</Text>
            <StateBadge color={change.status === 'active' ? 'green' : 'gray'}>
              {change.status === 'active' ? 'In use' : 'Taken back'}
            </StateBadge>
          </Group>
          {[change.older, change.newer].map((side, index) => (
            <Text key={side.chunk_id} size="sm" mt={6} c={index === 0 ? 'dimmed' : undefined}>
              {index === 0 ? 'Before: ' : 'Now: '}“{side.text}”
            </Text>
          ))}
          <Group gap="xs" mt="xs">
            <Button
              size="compact-sm"
              variant="default"
              onClick={() =>
                setOpened({ dataset, item: change.newer.data_id, name: change.subject, passage: change.newer.text })
              }
            >
              Open where it is stated
            </Button>
            {mayWrite && change.status === 'active' ? (
              <Button size="compact-sm" variant="default" onClick={() => void revert(change)}>
                Let the older stand
              </Button>
            ) : null}
            <Text size="xs" c="dimmed">
              Noticed {ago(change.detected_at)}
            </Text>
          </Group>
        </Paper>
      ))}
      {changes.hasNextPage ? (
        <Button variant="default" onClick={() => void changes.fetchNextPage()} loading={changes.isFetchingNextPage}>
          Show more
        </Button>
      ) : null}
      <DocumentDrawer opened={opened} onClose={() => setOpened(null)} />
    </Stack>
  );
}
