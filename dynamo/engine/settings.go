package engine

import (
	"fmt"
	"slices"

	"github.com/exchequer-dev/exchequer/dynamo"
	"github.com/exchequer-dev/exchequer/dynamo/internal/constraint"
)

// onDemandNone removes a maximum throughput in an update.
const onDemandNone = -1

// applySettings copies the settings other than keys and indexes from the definition of a new table.
func (d *descriptor) applySettings(in *dynamo.CreateTableInput) error {
	if err := checkTags(in.Tags); err != nil {
		return err
	}
	if len(in.Tags) > tagsMax {
		return dynamo.Invalid(fmt.Sprintf("%sa table has at most %d tags", invalidParameter,
			tagsMax))
	}
	if err := checkClass(in.TableClass); err != nil {
		return err
	}
	onDemand, err := mergeOnDemand(d.Billing, nil, in.OnDemandThroughput, false)
	if err != nil {
		return err
	}
	d.Tags, d.Class, d.OnDemand = slices.Clone(in.Tags), in.TableClass, onDemand
	return nil
}

// changeSettings applies an update to those settings.
func (d *descriptor) changeSettings(in *dynamo.UpdateTableInput) error {
	if err := checkClass(in.TableClass); err != nil {
		return err
	}
	if in.TableClass != "" {
		d.Class = in.TableClass
	}
	if d.Billing == dynamo.BillingProvisioned && in.OnDemandThroughput == nil {
		d.OnDemand = nil // the maximum throughput applies only to on-demand billing
		return nil
	}
	onDemand, err := mergeOnDemand(d.Billing, d.OnDemand, in.OnDemandThroughput, true)
	if err != nil {
		return err
	}
	d.OnDemand = onDemand
	return nil
}

func checkClass(class dynamo.TableClass) error {
	switch class {
	case "", dynamo.ClassStandard, dynamo.ClassInfrequentAccess:
		return nil
	}
	var wrong constraint.List
	wrong.Enum(string(class), "tableClass", "[STANDARD, STANDARD_INFREQUENT_ACCESS]")
	return wrong.Err()
}

// mergeOnDemand sets each maximum that is given. Only an update may remove one.
func mergeOnDemand(billing dynamo.BillingMode, now, asked *dynamo.OnDemandThroughput,
	update bool,
) (*dynamo.OnDemandThroughput, error) {
	if asked == nil {
		return now, nil
	}
	// Provisioned throughput is itself a maximum.
	if billing != dynamo.BillingPayPerRequest {
		return nil, dynamo.Invalid(invalidParameter + "OnDemandThroughput can only be specified " +
			"when BillingMode is PAY_PER_REQUEST")
	}
	var out dynamo.OnDemandThroughput
	if now != nil {
		out = *now
	}
	for _, m := range []struct {
		name       string
		asked, out *int64
	}{
		{"MaxReadRequestUnits", &asked.MaxReadRequestUnits, &out.MaxReadRequestUnits},
		{"MaxWriteRequestUnits", &asked.MaxWriteRequestUnits, &out.MaxWriteRequestUnits},
	} {
		switch {
		case *m.asked == 0: // not given
		case *m.asked == onDemandNone && update:
			*m.out = 0
		case *m.asked < 1:
			return nil, dynamo.Invalid(fmt.Sprintf("%s%s must be at least 1, or -1 in an update "+
				"to remove it, not %d", invalidParameter, m.name, *m.asked))
		default:
			*m.out = *m.asked
		}
	}
	if out == (dynamo.OnDemandThroughput{}) {
		return nil, nil
	}
	return &out, nil
}

func cloneOnDemand(o *dynamo.OnDemandThroughput) *dynamo.OnDemandThroughput {
	if o == nil {
		return nil
	}
	c := *o
	return &c
}

// updateIndex changes the throughput of an index.
func (d *descriptor) updateIndex(u *dynamo.UpdateIndex) error {
	i := slices.IndexFunc(d.Indexes, func(x indexDescriptor) bool {
		return x.Name == u.IndexName && !x.Local
	})
	if i < 0 {
		return &dynamo.Error{
			Code: dynamo.CodeResourceNotFound, Message: "Requested resource not found",
		}
	}
	x := &d.Indexes[i]
	if u.ProvisionedThroughput != nil {
		_, throughput, err := checkBilling(d.Billing, u.ProvisionedThroughput)
		if err != nil {
			return err
		}
		// The service refuses an update that changes nothing.
		if throughput == x.Throughput {
			return dynamo.Invalid("The provisioned throughput for the index " + x.Name +
				" will not change. The requested value equals the current value.")
		}
		x.Throughput = throughput
	}
	onDemand, err := mergeOnDemand(d.Billing, x.OnDemand, u.OnDemandThroughput, true)
	if err != nil {
		return err
	}
	x.OnDemand = onDemand
	return nil
}
