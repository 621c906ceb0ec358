// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The target "delay" of device-mapper by a timer of nanoseconds, with the table of the kernel's own (DEVICE SECTOR MILLISECONDS):
 * what the device below has answered is passed on so much later. The kernel's counts ticks, at 250 Hz whole 4 ms from request to
 * request (k:drivers/md/dm-delay.c), and takes the name of the target: only one of both can be loaded.
 */
#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>

struct delay {
	struct dm_dev *below;
	sector_t start;
	unsigned int ms;
};

struct delayed {
	struct hrtimer timer;
	struct bio *bio;
	bool is_over;
};

static int delay_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	unsigned long long start;
	struct delay *delay;
	int error = -EINVAL;
	unsigned int ms;

	if (argc != 3 || kstrtoull(argv[1], 10, &start) || kstrtouint(argv[2], 10, &ms)) {
		ti->error = "It takes a device, a sector and milliseconds";
		return error;
	}
	delay = kzalloc(sizeof(*delay), GFP_KERNEL);
	if (!delay) {
		ti->error = "No memory";
		return -ENOMEM;
	}
	error = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &delay->below);
	if (error) {
		ti->error = "There is no such device";
		kfree(delay);
		return error;
	}
	delay->start = start;
	delay->ms = ms;
	ti->private = delay;
	ti->per_io_data_size = sizeof(struct delayed);
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	return 0;
}

static void delay_dtr(struct dm_target *ti)
{
	struct delay *delay = ti->private;

	dm_put_device(ti, delay->below);
	kfree(delay);
}

static int delay_map(struct dm_target *ti, struct bio *bio)
{
	struct delayed *delayed = dm_per_bio_data(bio, sizeof(*delayed));
	struct delay *delay = ti->private;

	delayed->is_over = false;
	bio_set_dev(bio, delay->below->bdev);
	bio->bi_iter.bi_sector = delay->start + dm_target_offset(ti, bio->bi_iter.bi_sector);
	return DM_MAPIO_REMAPPED;
}

static enum hrtimer_restart delay_is_over(struct hrtimer *timer)
{
	struct delayed *delayed = container_of(timer, struct delayed, timer);

	delayed->is_over = true;
	/* The timer goes with it. */
	bio_endio(delayed->bio);
	return HRTIMER_NORESTART;
}

static int delay_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct delayed *delayed = dm_per_bio_data(bio, sizeof(*delayed));
	struct delay *delay = ti->private;

	if (delayed->is_over)
		return DM_ENDIO_DONE;
	delayed->bio = bio;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(&delayed->timer, delay_is_over, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
#else
	hrtimer_init(&delayed->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	delayed->timer.function = delay_is_over;
#endif
	hrtimer_start(&delayed->timer, ms_to_ktime(delay->ms), HRTIMER_MODE_REL_SOFT);
	return DM_ENDIO_INCOMPLETE;
}

static void delay_status(struct dm_target *ti, status_type_t type, unsigned int flags, char *result, unsigned int maxlen)
{
	struct delay *delay = ti->private;
	unsigned int sz = 0;

	result[0] = '\0';
	if (type == STATUSTYPE_TABLE)
		DMEMIT("%s %llu %u", delay->below->name, (unsigned long long)delay->start, delay->ms);
}

static int delay_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn callout, void *data)
{
	struct delay *delay = ti->private;

	return callout(ti, delay->below, delay->start, ti->len, data);
}

static struct target_type delay_target = {
	.name = "delay",
	.version = { 1, 0, 0 },
	.module = THIS_MODULE,
	.ctr = delay_ctr,
	.dtr = delay_dtr,
	.map = delay_map,
	.end_io = delay_end_io,
	.status = delay_status,
	.iterate_devices = delay_iterate_devices,
};

static int __init lab_delay_init(void)
{
	return dm_register_target(&delay_target);
}

static void __exit lab_delay_exit(void)
{
	dm_unregister_target(&delay_target);
}

module_init(lab_delay_init);
module_exit(lab_delay_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("The lab's target delay, by a timer of nanoseconds");
