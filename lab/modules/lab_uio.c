// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * A range of physical addresses as the memory of a UIO device (Documentation/driver-api/uio-howto.rst).
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/uio_driver.h>

static unsigned long base, size;
module_param(base, ulong, 0444);
module_param(size, ulong, 0444);

static struct platform_device *device;
static struct uio_info info = { .name = "lab-uio", .version = "1", .irq = UIO_IRQ_NONE };

static int __init lab_uio_init(void)
{
	int failed;

	device = platform_device_register_simple("lab-uio", -1, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	info.mem[0].name = "range";
	info.mem[0].addr = base;
	info.mem[0].size = size;
	info.mem[0].memtype = UIO_MEM_PHYS;
	failed = uio_register_device(&device->dev, &info);
	if (failed)
		platform_device_unregister(device);
	return failed;
}

static void __exit lab_uio_exit(void)
{
	uio_unregister_device(&info);
	platform_device_unregister(device);
}

module_init(lab_uio_init);
module_exit(lab_uio_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("The lab's UIO device with memory");
