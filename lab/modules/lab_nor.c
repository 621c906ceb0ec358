// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A NOR flash at a physical address: a platform device for the kernel's own physmap driver, which copies with memcpy_fromio.
 * With `narrow=1` a second map of the same flash as well, whose copy takes a byte at a time, as memcpy_fromio of several
 * architectures did.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/mtd/map.h>
#include <linux/mtd/mtd.h>
#include <linux/mtd/physmap.h>
#include <linux/platform_device.h>

static unsigned long base, size;
static unsigned int width = 1;
static bool narrow;
module_param(base, ulong, 0444);
module_param(size, ulong, 0444);
module_param(width, uint, 0444);
module_param(narrow, bool, 0444);

static struct platform_device *device;
static struct mtd_info *flash;
static struct map_info map = { .name = "lab-nor-narrow" };

static void copy_by_bytes(struct map_info *from, void *to, unsigned long offset, ssize_t length)
{
	u8 *byte = to;

	while (length-- > 0)
		*byte++ = readb(from->virt + offset++);
}

static int make_narrow_map(void)
{
	int failed;

	map.phys = base;
	map.size = size;
	map.bankwidth = width;
	map.virt = ioremap(base, size);
	if (!map.virt)
		return -ENOMEM;
	simple_map_init(&map);
	map.copy_from = copy_by_bytes;
	flash = do_map_probe("cfi_probe", &map);
	if (!flash) {
		iounmap(map.virt);
		return -ENODEV;
	}
	flash->owner = THIS_MODULE;
	failed = mtd_device_register(flash, NULL, 0);
	if (failed) {
		map_destroy(flash);
		iounmap(map.virt);
	}
	return failed;
}

static int __init lab_nor_init(void)
{
	struct physmap_flash_data data = { .width = width };
	struct resource range = DEFINE_RES_MEM(base, size);

	int failed;

	device = platform_device_register_resndata(NULL, "physmap-flash", -1, &range, 1, &data, sizeof(data));
	if (IS_ERR(device))
		return PTR_ERR(device);
	failed = narrow ? make_narrow_map() : 0;
	if (failed)
		platform_device_unregister(device);
	return failed;
}

static void __exit lab_nor_exit(void)
{
	if (narrow) {
		mtd_device_unregister(flash);
		map_destroy(flash);
		iounmap(map.virt);
	}
	platform_device_unregister(device);
}

module_init(lab_nor_init);
module_exit(lab_nor_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("The lab's NOR flash at a physical address");
