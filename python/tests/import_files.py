"""Files of other simulators for the tests of `interpulse import`: made up, with the options that such files have."""

from __future__ import annotations

from typing import Any

HOST: dict[str, Any] = {
    "PCIe_Lane_Bandwidth": 1.0,
    "PCIe_Lane_Count": 4,
    "SATA_Processing_Delay": 400_000,
    "Enable_ResponseTime_Logging": "false",
    "ResponseTime_Logging_Period_Length": 1_000_000,
}
DEVICE: dict[str, Any] = {
    "Seed": 7,
    "Enabled_Preconditioning": "false",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": 1024,
    "Queue_Fetch_Size": 512,
    "Caching_Mechanism": "ADVANCED",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": 16 << 20,
    "Data_Cache_DRAM_Row_Size": 8192,
    "Data_Cache_DRAM_Data_Rate": 800,
    "Data_Cache_DRAM_Data_Busrt_Size": 4,
    "Data_Cache_DRAM_tRCD": 13,
    "Data_Cache_DRAM_tCL": 13,
    "Data_Cache_DRAM_tRP": 13,
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "CMT_Capacity": 1 << 20,
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "Overprovisioning_Ratio": 0.15,
    "GC_Exec_Threshold": 0.05,
    "GC_Block_Selection_Policy": "GREEDY",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "true",
    "GC_Hard_Threshold": 0.005,
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Threshold": 100,
    "Preferred_suspend_erase_time_for_read": 700_000,
    "Preferred_suspend_erase_time_for_write": 700_000,
    "Preferred_suspend_write_time_for_read": 100_000,
    "Flash_Channel_Count": 2,
    "Flash_Channel_Width": 1,
    "Channel_Transfer_Rate": 333,
    "Chip_No_Per_Channel": 2,
    "Flash_Comm_Protocol": "NVDDR2",
}
FLASH: dict[str, Any] = {
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_LSB": 75_000,
    "Page_Read_Latency_CSB": 75_000,
    "Page_Read_Latency_MSB": 75_000,
    "Page_Program_Latency_LSB": 750_000,
    "Page_Program_Latency_CSB": 750_000,
    "Page_Program_Latency_MSB": 750_000,
    "Block_Erase_Latency": 3_800_000,
    "Block_PE_Cycles_Limit": 10_000,
    "Suspend_Erase_Time": 700_000,
    "Suspend_Program_Time": 100_000,
    "Die_No_Per_Chip": 2,
    "Plane_No_Per_Die": 2,
    "Block_No_Per_Plane": 256,
    "Page_No_Per_Block": 64,
    "Page_Capacity": 8192,
    "Page_Metadat_Capacity": 448,
}
FLOW: dict[str, Any] = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0,1",
    "Die_IDs": "0,1",
    "Plane_IDs": "0,1",
    "Initial_Occupancy_Percentage": 60,
}
SYNTHETIC: dict[str, Any] = FLOW | {
    "Working_Set_Percentage": 80,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": 100,
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": 0,
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": 16,
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": 8,
    "Variance_Request_Size": 0,
    "Seed": 11,
    "Average_No_of_Reqs_in_Queue": 1,
    "Bandwidth": 262_144,
    "Stop_Time": 0,
    "Total_Requests_To_Generate": 1000,
}
TRACE: dict[str, Any] = FLOW | {
    "File_Path": "mine.trace",
    "Percentage_To_Be_Executed": 100,
    "Relay_Count": 1,
    "Time_Unit": "NANOSECOND",
}


def elements(values: dict[str, Any]) -> str:
    """One element on a line for each value."""
    return "".join(f"<{name}>{value}</{name}>\n" for name, value in values.items())


def mqsim_drive(
    device: dict[str, Any] | None = None, flash: dict[str, Any] | None = None, host: dict[str, Any] | None = None
) -> str:
    """An MQSim drive with other values than those above; None leaves a parameter out."""

    def with_(base: dict[str, Any], other: dict[str, Any] | None) -> str:
        return elements({name: value for name, value in (base | (other or {})).items() if value is not None})

    inner = f"<Flash_Parameter_Set>\n{with_(FLASH, flash)}</Flash_Parameter_Set>\n"
    return (
        '<?xml version="1.0" encoding="us-ascii"?>\n<Execution_Parameter_Set>\n'
        f"<Host_Parameter_Set>\n{with_(HOST, host)}</Host_Parameter_Set>\n"
        f"<Device_Parameter_Set>\n{with_(DEVICE, device)}{inner}</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
    )


def mqsim_workload(*scenarios: list[dict[str, Any]]) -> str:
    """An MQSim workload: each flow has its differences from `SYNTHETIC`, or from `TRACE` if it has a `File_Path`."""
    text = '<?xml version="1.0" encoding="us-ascii"?>\n<MQSim_IO_Scenarios>\n'
    for flows in scenarios:
        text += "<IO_Scenario>\n"
        for flow in flows:
            base, kind = (TRACE, "Trace_Based") if "File_Path" in flow else (SYNTHETIC, "Synthetic")
            values = {name: value for name, value in (base | flow).items() if value is not None}
            tag = f"IO_Flow_Parameter_Set_{kind}"
            text += f"<{tag}>\n{elements(values)}</{tag}>\n"
        text += "</IO_Scenario>\n"
    return text + "</MQSim_IO_Scenarios>\n"
