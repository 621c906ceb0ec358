// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Lowers the limits of a disk's queue, as a controller with less room would have them: the disk's driver is told nothing, and
 * gets requests that keep to them. What is 0 stays as it is.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/module.h>

static char *disk = "/dev/vda";
static unsigned short max_segments;
static unsigned int max_segment_bytes, max_sectors;
module_param(disk, charp, 0444);
module_param(max_segments, ushort, 0444);
module_param(max_segment_bytes, uint, 0444);
module_param(max_sectors, uint, 0444);

static int __init lab_limits_init(void)
{
	struct block_device *opened = blkdev_get_by_path(disk, FMODE_READ, NULL);
	struct request_queue *queue;

	if (IS_ERR(opened))
		return PTR_ERR(opened);
	queue = bdev_get_queue(opened);
	blk_mq_freeze_queue(queue);
	if (max_segments)
		blk_queue_max_segments(queue, max_segments);
	if (max_segment_bytes)
		blk_queue_max_segment_size(queue, max_segment_bytes);
	if (max_sectors)
		blk_queue_max_hw_sectors(queue, max_sectors);
	blk_mq_unfreeze_queue(queue);
	blkdev_put(opened, FMODE_READ);
	return 0;
}

static void __exit lab_limits_exit(void)
{
}

module_init(lab_limits_init);
module_exit(lab_limits_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("The lab's lower limits of a queue");
