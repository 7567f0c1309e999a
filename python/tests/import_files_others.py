"""Files of SSDSim, SimpleSSD, FEMU, NVMeVirt and DiskSim for the tests of `interpulse import`: made up."""

from __future__ import annotations

SSDSIM = """\
# a drive of the tests
dram capacity = 65536;
chip number[0] = 2;
chip number[1] = 2;
channel number = 2; # buses
chip number = 4;
die number = 1;
plane number = 2;
block number = 256;
page number = 64;
subpage page = 8;
page capacity = 4096;
subpage capacity = 512;
t_PROG = 300000;
t_BERS = 2000000;
t_R = 30000;
t_WC = 20;
t_RC = 20;
t_CLS = 12;
t_WB = 100;
erase limit=5000;
flash operating current=20000.0;
flash supply voltage=3.3;
dram standby current=50000;
dram refresh current=5000;
dram voltage=1.5;
address mapping=1;
wear leveling=1;
gc=1;
overprovide=0.20;
gc threshold=0.1;
gc hard threshold=0.08;
allocation=1;
static_allocation=1;
dynamic_allocation=0;
advanced command=24;
greed CB command=0;
aged=1;
aged ratio=0.5;
queue_length=64;
"""

SIMPLESSD = """\
# a drive of the tests
[cpu]
ClockSpeed = 500000000
[nvme]
PCIEGeneration = 2
PCIELane = 4
WorkInterval = 2000000 ## 2 us
LBASize = 512
EnableDiskImage = 0
[pal]
Channel = 4
Package = 2
Die = 1
Plane = 2
Block = 256
Page = 64
PageSize = 8192
EnableMultiPlaneOperation = 1
NANDType = 1
LSBRead = 40000000
LSBWrite = 500000000
MSBRead = 60000000
MSBWrite = 900000000
Erase = 3000000000
DMASpeed = 400
DMAWidth = 8
PageAllocation = CWDP
ReadCurrent = 20000
[ftl]
MappingMode = 0
OverProvisioningRatio = 0.2
EraseThreshold = 3000
FillRatio = 1.0
InvalidPageRatio = 0.5
FillingMode = 2
EvictPolicy = 3
DChoiceParam = 5
GCThreshold = 0.05
[icl]
CacheSize = 16777216
EnableReadCache = 1
EnableReadPrefetch = 1
ReadPrefetchCount = 3
EnableWriteCache = 1
EvictPolicy = 1
CacheLatency = 100
[dram]
Model = 0
tCK = 1250
IDD0_0 = 55
"""

FEMU = """\
#!/bin/bash
size=1536 # MiB
pg_rd_lat=45000
OPTS="-device femu"
OPTS=${OPTS}",devsz_mb=${size}"
OPTS=${OPTS}",namespaces=1,femu_mode=1"
OPTS="${OPTS},secsz=512,secs_per_pg=8,pgs_per_blk=64,blks_per_pl=256"
OPTS=$OPTS,pls_per_lun=1,luns_per_ch=4,nchs=8
OPTS=${OPTS}",pg_rd_lat=${pg_rd_lat}"
OPTS=${OPTS}",pg_wr_lat=250000,blk_er_lat=2500000,ch_xfer_lat=8192"
OPTS=${OPTS}",gc_thres_pcent=90,gc_thres_pcent_high=97,gc_policy=d-choice"
OPTS=${OPTS}",read_cache_mb=4,cache_evict=lru,mapping=dftl,fw_cpu_ns=3000,queues=4"
OPTS=${OPTS}",pcie_bandwidth_mbps=3500"
echo ${OPTS}
sudo qemu-system-x86_64 -m 4G \\
    ${OPTS} \\
    -nographic
"""

NVMEVIRT = """\
#ifndef _CONFIG_H
#define _CONFIG_H
#define SSD_TYPE_NVM 0
#define SSD_TYPE_CONV 1
#define SSD_TYPE_ZNS 2
#define CELL_MODE_MLC 2
#define CELL_MODE_TLC 3
#if (BASE_SSD == SAMSUNG_970PRO)
#define NR_NAMESPACES 1
#define NS_SSD_TYPE_0 SSD_TYPE_CONV
#define MDTS (6)
#define CELL_MODE (CELL_MODE_TLC) /* three
 bits */
#define SSD_PARTITIONS (4)
#define NAND_CHANNELS (4)
#define LUNS_PER_NAND_CH (2)
#define PLNS_PER_LUN (1)
#define FLASH_PAGE_SIZE KB(16)
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 3)
#define BLKS_PER_PLN (256)
#define BLK_SIZE (0) // unused
#define NAND_CHANNEL_BANDWIDTH (800ull) //MB/s
#define PCIE_BANDWIDTH (3360ull)
#define NAND_4KB_READ_LATENCY_LSB (36000 - 6000)
#define NAND_4KB_READ_LATENCY_MSB (36000 + 6000)
#define NAND_4KB_READ_LATENCY_CSB (36000)
#define NAND_READ_LATENCY_LSB (36000)
#define NAND_PROG_LATENCY (185000)
#define NAND_ERASE_LATENCY (0)
#define FW_4KB_READ_LATENCY (20000)
#define FW_READ_LATENCY (30000)
#define FW_WBUF_LATENCY0 (24000)
#define FW_WBUF_LATENCY1 (460)
#define FW_CH_XFER_LATENCY (100)
#define OP_AREA_PERCENT (0.07)
#define GLOBAL_WB_SIZE (NAND_CHANNELS * LUNS_PER_NAND_CH * ONESHOT_PAGE_SIZE * 2)
#define WRITE_EARLY_COMPLETION 1
#define LBA_BITS (9)
#define LBA_SIZE (1 << LBA_BITS)
static_assert((ONESHOT_PAGE_SIZE % FLASH_PAGE_SIZE) == 0);
#elif (BASE_SSD == WD_ZN540)
#define NS_SSD_TYPE_0 SSD_TYPE_ZNS
#define CELL_MODE (CELL_MODE_TLC)
#else
#define NS_SSD_TYPE_0 SSD_TYPE_NVM
#endif
#define NS_SSD_TYPE(ns) (types[ns])
#endif
"""
KBUILD = """\
#CONFIG_NVMEVIRT_NVM := y
CONFIG_NVMEVIRT_SSD := y
ccflags-$(CONFIG_NVMEVIRT_NVM) += -DBASE_SSD=INTEL_OPTANE
ccflags-$(CONFIG_NVMEVIRT_SSD) += -DBASE_SSD=SAMSUNG_970PRO
ccflags-$(CONFIG_NVMEVIRT_ZNS) += -DBASE_SSD=WD_ZN540
"""
INSMOD = "sudo insmod ./nvmev.ko memmap_start=4G memmap_size=1536M cpus=7,8\n"

DISKSIM = """\
# a drive of the tests
disksim_global Global {
   Init Seed = 42,
   Stat definition file = statdefs
}
ssdmodel_ssd SSD {
   Reserve pages percentage = 15, # of all pages
   Minimum free blocks percentage = 5,
   Write policy = 2,
   Cleaning policy = 3,
   Planes per package = 4,
   Blocks per plane = 256,
   Plane block mapping = 3,
   Copy back = 1,
   Number of parallel units = 2,
   Allocation pool logic = 1,
   Elements per gang = 2,
   Gang share = 1,
   Cleaning in background = 0,
   Command overhead = 0.002,
   Bus transaction latency = 0.001,
   Bulk sector transfer time = 0.0002,
   Flash chip elements = 8,
   Page size = 8,
   Pages per block = 64,
   Blocks per element = 1024,
   Element stride pages = 1,
   Never disconnect = 1,
   Print stats = 1,
   Max queue length = 40,
   Scheduler = disksim_ioqueue {
      Scheduling policy = 1,
      Timeout time/weight = 0
   },
   Timing model = 1,
   Chip xfer latency = 0.000025,
   Page read latency = 0.025,
   Page write latency = 0.2,
   Block erase latency = 1.5
}
instantiate [ ssd0x0 ] as SSD
topology disksim_iodriver driver0 [ disksim_bus bus0 [ ssdmodel_ssd ssd0x0 [] ] ]
"""

FILES: dict[str, tuple[str, ...]] = {
    "ssdsim": (SSDSIM,),
    "simplessd": (SIMPLESSD,),
    "femu": (FEMU,),
    "nvmevirt": (NVMEVIRT, KBUILD, INSMOD),
    "disksim": (DISKSIM,),
}
"""Texts of the files of each program."""
