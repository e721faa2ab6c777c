import { Badge, Progress as Bar, Group, Stack, Text, Tooltip } from '@mantine/core';
import { count } from '../format.ts';
import { isRunning, type Progress } from '../queries.ts';
import { StateBadge } from '../table.tsx';

/** State of the newest build of a dataset: a bar while it goes on. */
export function BuildState({ progress }: { readonly progress: Progress | undefined }) {
  if (progress === undefined) {
    return (
      <Badge color="gray" variant="outline" tt="none">
        Not built
      </Badge>
    );
  }
  if (isRunning(progress)) return <Running progress={progress} />;
  const hasFailed = progress.status.endsWith('ERRORED');
  const badge = <StateBadge color={hasFailed ? 'red' : 'green'}>{hasFailed ? 'Failed' : 'Ready'}</StateBadge>;
  return progress.error === undefined ? (
    badge
  ) : (
    <Tooltip label={progress.error} multiline maw={420}>
      {badge}
    </Tooltip>
  );
}

function Running({ progress: { progress, chunks } }: { readonly progress: Progress }) {
  const done = progress?.completed_items ?? 0;
  const total = progress?.total_items ?? 0;
  const inItem = chunks === undefined || chunks.total === 0 ? 0 : chunks.completed / chunks.total;
  const share = total === 0 ? 0 : Math.min(1, (done + inItem) / total);
  return (
    <Stack gap={2} miw={150}>
      <Bar value={share * 100} animated aria-label="Progress of the build" />
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="xs">{total === 0 ? 'Starting' : `${count(done)} of ${count(total)} documents`}</Text>
        <Text size="xs" c="dimmed" className="clip">
          {chunks === undefined
            ? progress?.current_stage
            : `${count(chunks.completed)} of ${count(chunks.total)} passages`}
        </Text>
      </Group>
    </Stack>
  );
}
